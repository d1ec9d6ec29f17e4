package durable

import (
	"container/list"
	"errors"
	"io"
	"sync"

	"github.com/alike-dev/alike/vfs"
)

// A Pool reads any number of files and keeps a bounded number of them open: the most recently read.
// Its methods are safe for concurrent use.
//
// A read costs a lock of some ten nanoseconds, and an opening when the file was not open.
type Pool struct {
	open func(name string) (vfs.File, error)
	most int

	mu    sync.Mutex
	files int       // open, including those in use
	idle  list.List // of *Pooled that are open and not in use; most recently used first
}

// NewPool returns a pool of the files that open opens. It keeps up to most of them open, and more
// only while more are being read at one instant.
func NewPool(most int, open func(name string) (vfs.File, error)) *Pool {
	return &Pool{open: open, most: most}
}

// Pooled is a file of a pool. Its methods are safe for concurrent use.
type Pooled struct {
	pool *Pool
	name string

	// pool.mu guards the fields below.
	file   vfs.File // nil: not open
	users  int
	place  *list.Element // in pool.idle; nil when in use or not open
	closed bool
}

// Open returns a file to read. It fails as opening does.
func (p *Pool) Open(name string) (*Pooled, error) {
	f := &Pooled{pool: p, name: name}
	if _, err := f.take(); err != nil {
		return nil, err
	}
	return f, f.give()
}

var errPooledClosed = errors.New("file already closed")

// take returns the open file for one use.
func (f *Pooled) take() (vfs.File, error) {
	p := f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.closed {
		return nil, errPooledClosed
	}
	if f.file == nil {
		if err := p.makeRoom(); err != nil {
			return nil, err
		}
		file, err := p.open(f.name)
		if err != nil {
			return nil, err
		}
		f.file = file
		p.files++
	}
	if f.place != nil {
		p.idle.Remove(f.place)
		f.place = nil
	}
	f.users++
	return f.file, nil
}

// makeRoom closes unused files until another one may be opened.
func (p *Pool) makeRoom() error {
	for p.files >= p.most && p.idle.Len() > 0 {
		oldest := p.idle.Back().Value.(*Pooled)
		if err := oldest.shut(); err != nil {
			return err
		}
	}
	return nil
}

// shut closes an unused file.
func (f *Pooled) shut() error {
	if f.place != nil {
		f.pool.idle.Remove(f.place)
		f.place = nil
	}
	file := f.file
	if file == nil {
		return nil
	}
	f.file = nil
	f.pool.files--
	return file.Close()
}

// give ends a use.
func (f *Pooled) give() error {
	p := f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	f.users--
	switch {
	case f.users > 0:
		return nil
	case f.closed, p.files > p.most:
		return f.shut()
	}
	f.place = p.idle.PushFront(f)
	return nil
}

// ReadAt reads as io.ReaderAt does.
func (f *Pooled) ReadAt(b []byte, offset int64) (int, error) {
	file, err := f.take()
	if err != nil {
		return 0, err
	}
	n, err := file.ReadAt(b, offset)
	if closing := f.give(); closing != nil && (err == nil || errors.Is(err, io.EOF)) {
		err = closing
	}
	return n, err
}

func (f *Pooled) Size() (int64, error) {
	file, err := f.take()
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err = errors.Join(err, f.give()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file, at once or when the reads under way have ended.
func (f *Pooled) Close() error {
	f.pool.mu.Lock()
	defer f.pool.mu.Unlock()
	f.closed = true
	if f.users > 0 {
		return nil
	}
	return f.shut()
}
