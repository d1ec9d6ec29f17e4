// Package ranges reads objects of object stores by requests for ranges of bytes.
package ranges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/internal/fault"
)

// An object is read front to back by requests for ranges. Several are in flight at once,
// because one connection rarely uses the whole bandwidth of the network:
//
//	object  ├─1─┼──2──┼────3────┼────4────┼─ …
//	         read  ready  …coming  …coming   not requested yet
//
// An object of up to a quarter of the read-ahead is one range. The ranges of a larger one
// begin small and few, so that reading just a header costs little, and double up to that
// size, four at a time. Memory of an open object: at most the read-ahead (8 MiB by
// default). If a range breaks off, another request continues it there, for as long as
// requests bring bytes.
//
// Each range is fetched by a goroutine of its own, which ends with the reader's context;
// Close waits for them.

const (
	defaultReadAhead = 8 << 20
	rangesAhead      = 4
	firstRange       = 256 << 10
)

// Idle is the time without a byte after which a request is given up.
var Idle = 30 * time.Second

// An Object is the object to read. It is safe for concurrent use if its function is.
type Object struct {
	Size int64
	// Open opens length > 0 bytes from an offset on. An error that errors.Is ErrNotExist,
	// ErrPermission or ErrInvalid of io/fs, or ErrChanged, is final; others are worth
	// another try, after RetryAfter() if they have that method.
	Open func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

var errIdle = errors.New("no data for too long")

// Fetch fills buf with the bytes from offset on. It continues broken requests. The error is a
// *fault.Unread.
func (f *Object) Fetch(ctx context.Context, offset int64, buf []byte) error {
	for have, try := 0, 1; ; try++ {
		n, err := f.request(ctx, offset+int64(have), buf[have:])
		have += n
		switch {
		case have == len(buf):
			return nil
		case ctx.Err() != nil:
			return &fault.Unread{Err: ctx.Err()}
		case isFinal(err):
			return &fault.Unread{Err: err}
		case n > 0: // progress was made
			try = 1
		}
		if patience.Usual.Wait(ctx, try, err) == nil {
			continue
		}
		if ctx.Err() != nil {
			return &fault.Unread{Err: ctx.Err()}
		}
		return &fault.Unread{Err: fault.Caused(fault.ErrUnavailable, err,
			"the object storage does not deliver (%v; tried %d times); check the network and run again", err, try)}
	}
}

// isFinal reports whether another try would return the same error.
func isFinal(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) ||
		errors.Is(err, fault.ErrChanged)
}

// request makes one request and returns how many bytes of buf it has filled. It gives up
// when no byte arrives for Idle.
func (f *Object) request(ctx context.Context, offset int64, buf []byte) (have int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(Idle, func() { cancel(errIdle) })
	defer watch.Stop()
	body, err := f.Open(ctx, offset, int64(len(buf)))
	if err == nil {
		defer body.Close()
	}
	for err == nil && have < len(buf) {
		var n int
		n, err = body.Read(buf[have:])
		if n > 0 {
			have += n
			watch.Reset(Idle)
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return have, err
}

// A Reader reads an object front to back. It belongs to one goroutine.
type Reader struct {
	object Object
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the goroutines that fetch

	queue []*piece // in the order of the object; the first is being read
	pos   int      // bytes of the first piece already read
	asked int64    // bytes of the object that have been requested
	size  int      // of the next range
	most  int      // bytes of a range
	ahead int      // most ranges in the queue
	free  [][]byte // buffers of ranges already read
	err   error    // returned by all further calls
}

type piece struct {
	data  []byte
	ready chan error // one value, when data is full or cannot be
	here  bool
}

// NewReader begins to read an object, readAhead bytes ahead (0 = 8 MiB), until ctx ends.
func NewReader(ctx context.Context, o Object, readAhead int) *Reader {
	if readAhead == 0 {
		readAhead = defaultReadAhead
	}
	r := &Reader{object: o, most: max(readAhead/rangesAhead, 1), ahead: 1}
	r.size = min(firstRange, r.most)
	if o.Size <= int64(r.most) {
		r.size = r.most // one request is enough
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.ask()
	return r
}

// ask starts fetching as many ranges as may be in flight.
func (r *Reader) ask() {
	for len(r.queue) < r.ahead && r.asked < r.object.Size {
		offset := r.asked
		q := &piece{data: r.buffer(int(min(int64(r.size), r.object.Size-offset))), ready: make(chan error, 1)}
		r.wg.Go(func() { q.ready <- r.object.Fetch(r.ctx, offset, q.data) })
		r.queue = append(r.queue, q)
		r.asked += int64(len(q.data))
		r.size = min(2*r.size, r.most)
	}
}

func (r *Reader) buffer(n int) []byte {
	for i, b := range r.free {
		if cap(b) >= n {
			r.free = append(r.free[:i], r.free[i+1:]...)
			return b[:n]
		}
	}
	r.free = nil // too small for the next ranges
	return make([]byte, n)
}

func (r *Reader) Read(p []byte) (int, error) {
	for r.err == nil {
		if len(r.queue) == 0 {
			r.err = io.EOF
			break
		}
		head := r.queue[0]
		if !head.here {
			if r.err = <-head.ready; r.err != nil {
				r.cancel()
				break
			}
			head.here = true
		}
		if r.pos < len(head.data) {
			n := copy(p, head.data[r.pos:])
			r.pos += n
			return n, nil
		}
		r.queue, r.pos = r.queue[1:], 0
		r.free = append(r.free, head.data)
		r.ahead = min(r.ahead+1, rangesAhead)
		r.ask()
	}
	return 0, r.err
}

// Close ends all requests and waits for their goroutines.
func (r *Reader) Close() error {
	r.cancel()
	r.wg.Wait()
	r.queue, r.free, r.err = nil, nil, fs.ErrClosed
	return nil
}

const (
	pageSize    = 1 << 20
	pagesCached = 8
	directRead  = 2 * pageSize // reads of at least so many bytes bypass the cache
)

// Pages read an object in any order: in pages, of which the most recent are kept. When
// pages are read in order, the next one is fetched in advance. They are safe for
// concurrent use, but no ReadAt may be in progress during Close.
type Pages struct {
	object Object
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	pages map[int64]*page
	clock int64 // counts uses
}

type page struct {
	data  []byte
	ready chan struct{} // closed when data is full or err is set
	err   error
	used  int64
}

// NewPages opens an object until ctx ends.
func NewPages(ctx context.Context, o Object) *Pages {
	r := &Pages{object: o, pages: map[int64]*page{}}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

func (r *Pages) Size() int64 { return r.object.Size }

// Close ends all requests and waits for their goroutines.
func (r *Pages) Close() error {
	r.cancel()
	r.wg.Wait()
	return nil
}

func (r *Pages) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%w: offset %d", fs.ErrInvalid, off)
	}
	atEnd := error(nil)
	if left := r.object.Size - off; int64(len(p)) > left {
		p, atEnd = p[:max(left, 0)], io.EOF
	}
	if len(p) >= directRead {
		if err := r.object.Fetch(r.ctx, off, p); err != nil {
			return 0, err
		}
		return len(p), atEnd
	}
	for n < len(p) {
		at := off + int64(n)
		data, err := r.page(at / pageSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at%pageSize:])
	}
	return n, atEnd
}

// page returns the data of a page, which does not change.
func (r *Pages) page(number int64) ([]byte, error) {
	r.mu.Lock()
	page := r.ask(number)
	if r.pages[number-1] != nil && (number+1)*pageSize < r.object.Size {
		r.ask(number + 1)
	}
	r.mu.Unlock()
	<-page.ready
	if page.err != nil {
		r.mu.Lock()
		if r.pages[number] == page { // so that it can be tried again
			delete(r.pages, number)
		}
		r.mu.Unlock()
	}
	return page.data, page.err
}

// ask returns a page that is present or being fetched. The caller has the lock.
func (r *Pages) ask(number int64) *page {
	r.clock++
	if page := r.pages[number]; page != nil {
		page.used = r.clock
		return page
	}
	if len(r.pages) >= pagesCached {
		oldest := int64(-1)
		for n, p := range r.pages {
			if oldest < 0 || p.used < r.pages[oldest].used {
				oldest = n
			}
		}
		delete(r.pages, oldest) // its readers still have it
	}
	start := number * pageSize
	page := &page{data: make([]byte, min(pageSize, r.object.Size-start)), ready: make(chan struct{}), used: r.clock}
	r.pages[number] = page
	r.wg.Go(func() {
		page.err = r.object.Fetch(r.ctx, start, page.data)
		close(page.ready)
	})
	return page
}
