package ranges

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

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
