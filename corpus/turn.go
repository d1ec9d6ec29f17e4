package corpus

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// A Turn lets one Block at a time hold a record longer than so many bytes, so that
// workers that meet long records do not have them in memory all at once. Files
// opened with it in their Options share it.
//
// Nobody can be stuck: a Block takes the turn once, inside of Next, and from there
// on Next waits for no other Block. Whoever has a Block lets go of the turn by
// giving the Block to Next again, or by Block.Release.
type Turn struct {
	bytes int
	one   *semaphore.Weighted
	left  int // bytes that turns have left for the collector since it was last called
}

// collectAfter is how many bytes long records may leave behind before the collector
// is called. It comes by itself, but only while the next record is read already.
const collectAfter = 16 << 20

// NewTurn returns a turn for records longer than so many bytes.
func NewTurn(bytes int) *Turn { return &Turn{bytes: bytes, one: semaphore.NewWeighted(1)} }

// Take waits for the turn if a record is that long, and returns what ends it. The
// error is that of ctx.
func (t *Turn) Take(ctx context.Context, bytes int) (release func(), err error) {
	if t == nil || bytes <= t.bytes {
		return func() {}, nil
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
