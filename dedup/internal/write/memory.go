package write

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memory shares the memory of the last stage out among the files that are
// decoded and compressed, or copied row by row, at the same time. A file takes
// all that it needs at once, before it is opened, so none waits with memory that
// another one wants.
type memory struct {
	size int64 // in bytes; 0: any amount
	left *semaphore.Weighted
}

// copyRowsBytes is what one thread wants for pages of a Parquet file.
const copyRowsBytes = 48 << 20

func newMemory(size int64) *memory {
	return &memory{size: size, left: semaphore.NewWeighted(size)}
}

// take waits for the room of one file: most bytes if there are as many in all,
// else all there are, which may be less than least. Then the file is written alone:
// it cannot be written with less. The caller gives back what is granted.
func (w *memory) take(ctx context.Context, least, most int64) (granted int64, err error) {
	if w.size == 0 {
		return most, nil
	}
	if err := w.left.Acquire(ctx, min(most, w.size)); err != nil {
		return 0, err
	}
	return max(min(most, w.size), least), nil
}

// giveBack returns the room of a file.
func (w *memory) giveBack(granted int64) {
	if w.size > 0 {
		w.left.Release(min(granted, w.size))
	}
}
