// Package turn lets workers take turns with long records, so that several long records are not in
// memory at once.
package turn

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// A Turn is held by one worker at a time, as long as it holds a record longer than the given number
// of bytes.
//
// This cannot deadlock if the worker that holds the turn waits for no other record before it
// releases the turn.
type Turn struct {
	bytes int
	one   *semaphore.Weighted
	left  int // bytes that turns have left as garbage since the last collection
}

// collectAfter is how many bytes of garbage long records may leave before the garbage collector is
// called. It would also run by itself, but only while the next record is already being read.
const collectAfter = 16 << 20

// New returns a turn for records longer than the given number of bytes.
func New(bytes int) *Turn { return &Turn{bytes: bytes, one: semaphore.NewWeighted(1)} }

// Take waits for the turn if a record is that long, and returns the function that ends it; for
// other records, and with a nil Turn, it returns nil. It can be Options.Admit of package corpus.
// The error is that of ctx.
func (t *Turn) Take(ctx context.Context, bytes int) (release func(), err error) {
	if t == nil || bytes <= t.bytes {
		return nil, nil
	}
	if err := t.one.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if t.left+bytes > collectAfter && t.left > 0 {
		runtime.GC()
		t.left = 0
	}
	t.left += bytes
	return func() { t.one.Release(1) }, nil
}
