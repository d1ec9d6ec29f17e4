package write

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// memory divides the memory of the last stage among the files that are decoded and compressed, or
// copied row by row, at the same time. A file takes all its memory at once, before it is opened, so
// no file waits while it holds memory that another one needs.
type memory struct {
	size int64 // in bytes; 0: no limit
	left *semaphore.Weighted
}

// copyRowsBytes is the memory of one thread for pages of a Parquet file.
const copyRowsBytes = 48 << 20

func newMemory(size int64) *memory {
	return &memory{size: size, left: semaphore.NewWeighted(size)}
}

// take waits for the memory of one file: most bytes, or all memory if that is less, which may even
// be less than least. Then the file is written alone: it cannot be written with less. The caller
// gives back what is granted.
func (w *memory) take(ctx context.Context, least, most int64) (granted int64, err error) {
	if w.size == 0 {
		return most, nil
	}
	if err := w.left.Acquire(ctx, min(most, w.size)); err != nil {
		return 0, err
	}
	return max(min(most, w.size), least), nil
}

// giveBack returns the memory of a file.
func (w *memory) giveBack(granted int64) {
	if w.size > 0 {
		w.left.Release(min(granted, w.size))
	}
}
