package objects

import (
	"io"
	"io/fs"
	"sync"
)

// lent is memory that a request may read until takeBack. The HTTP client may still read a
// body when the answer has arrived, since a server may answer before it has read
// everything.
type lent struct {
	mu   sync.RWMutex
	from io.ReaderAt
}

// ReadAt reads the lent memory; after takeBack it returns an error.
func (l *lent) ReadAt(p []byte, off int64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.from == nil {
		return 0, fs.ErrClosed
	}
	return l.from.ReadAt(p, off)
}

// takeBack waits for a read in progress and prevents further ones: then the memory may be
// overwritten.
func (l *lent) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = nil
}
