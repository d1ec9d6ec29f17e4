package corpus

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

const (
	objectPage  = 1 << 20
	pagesCached = 8
	directRead  = 2 * objectPage // reads of so many bytes go past the cache
)

// objectAt reads pages of an object and keeps the last ones. When pages are
// read in order, the next one is fetched beforehand.
type objectAt struct {
	objectFetcher
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	pages map[int64]*objectPageData
	clock int64 // counts uses
}

type objectPageData struct {
	data  []byte
	ready chan struct{} // closed when data is full or err is set
	err   error
	used  int64
}

func newObjectAt(ctx context.Context, f objectFetcher) *objectAt {
	r := &objectAt{objectFetcher: f, pages: map[int64]*objectPageData{}}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

func (r *objectAt) Size() int64 { return r.object.Size }

// Close ends all requests and waits for their goroutines.
func (r *objectAt) Close() error {
	r.cancel()
	r.wg.Wait()
	return nil
}

func (r *objectAt) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%w: offset %d", fs.ErrInvalid, off)
	}
	atEnd := error(nil)
	if left := r.object.Size - off; int64(len(p)) > left {
		p, atEnd = p[:max(left, 0)], io.EOF
	}
	if len(p) >= directRead {
		if err := r.fetch(r.ctx, off, p); err != nil {
			return 0, err
		}
		return len(p), atEnd
	}
	for n < len(p) {
		at := off + int64(n)
		data, err := r.page(at / objectPage)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at%objectPage:])
	}
	return n, atEnd
}

// page returns a page, which stays as it is.
func (r *objectAt) page(number int64) ([]byte, error) {
	r.mu.Lock()
	page := r.ask(number)
	if r.pages[number-1] != nil && (number+1)*objectPage < r.object.Size {
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

// ask returns a page that is here or under way. The caller has the lock.
func (r *objectAt) ask(number int64) *objectPageData {
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
		delete(r.pages, oldest) // who reads it still has it
	}
	start := number * objectPage
	page := &objectPageData{data: make([]byte, min(objectPage, r.object.Size-start)), ready: make(chan struct{}), used: r.clock}
	r.pages[number] = page
	r.wg.Go(func() {
		page.err = r.fetch(r.ctx, start, page.data)
		close(page.ready)
	})
	return page
}
