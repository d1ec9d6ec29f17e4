// Package turn lets those who hold a long record take turns, so that workers that meet
// long records do not have them in memory all at once.
package turn

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// A Turn is held by one at a time, as long as it holds a record longer than so many
// bytes.
//
// Nobody can be stuck: whoever has the turn must wait for no other record before it
// lets go.
type Turn struct {
	bytes int
	one   *semaphore.Weighted
	left  int // bytes that turns have left for the collector since it was last called
}

// collectAfter is how many bytes long records may leave behind before the collector
// is called. It comes by itself, but only while the next record is read already.
const collectAfter = 16 << 20

// New returns a turn for records longer than so many bytes.
func New(bytes int) *Turn { return &Turn{bytes: bytes, one: semaphore.NewWeighted(1)} }

// Take waits for the turn if a record is that long, and returns what ends it; else nil,
// as of a nil Turn. It can be Options.Admit of package corpus. The error is that of
// ctx.
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
