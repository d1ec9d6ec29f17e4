package objects

import (
	"io"
	"io/fs"
	"sync"
)

// lent is memory that a request may read until it is taken back. The client of HTTP may
// still read a body when the answer is there, since a server may answer before it has
// read all.
type lent struct {
	mu   sync.RWMutex
	from io.ReaderAt
}

// ReadAt reads what was lent; it is an error once that was taken back.
func (l *lent) ReadAt(p []byte, off int64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.from == nil {
		return 0, fs.ErrClosed
	}
	return l.from.ReadAt(p, off)
}

// takeBack waits for a read that is under way and lets none follow: the memory may be
// written to.
func (l *lent) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = nil
}
