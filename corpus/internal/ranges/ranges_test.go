package ranges

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is an object in memory that counts its requests.
type counted struct {
	data               []byte
	requests, asked    atomic.Int64
	underWay, together atomic.Int64
}

func newCounted(size int) *counted {
	c := &counted{data: make([]byte, size)}
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range c.data {
		c.data[i] = byte(rnd.Uint32())
	}
	return c
}

func (c *counted) object() Object {
	return Object{Size: int64(len(c.data)), Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
		c.requests.Add(1)
		c.asked.Add(length)
		now := c.underWay.Add(1)
		for most := c.together.Load(); now > most && !c.together.CompareAndSwap(most, now); most = c.together.Load() {
		}
		return &body{bytes.NewReader(c.data[offset : offset+length]), c}, nil
	}}
}

type body struct {
	io.Reader
	c *counted
}

func (b *body) Close() error {
	b.c.underWay.Add(-1)
	return nil
}

func TestReadingAnObjectNeverHoldsMoreThanTheReadAhead(t *testing.T) {
	c := newCounted(5 << 20)
	r := NewReader(t.Context(), c.object(), 1<<20)
	defer r.Close()
	var p [10_000]byte
	for err := error(nil); err == nil; _, err = r.Read(p[:]) {
		held := 0
		for _, q := range r.queue {
			held += cap(q.data)
		}
		for _, f := range r.free {
			held += cap(f)
		}
		if held > 1<<20 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	if c.together.Load() > rangesAhead || c.asked.Load() != 5<<20 {
		t.Errorf("%d requests at once, %d bytes asked for", c.together.Load(), c.asked.Load())
	}
}

func TestPagesInOrderCostOneRequestEach(t *testing.T) {
	c := newCounted(12 << 20)
	r := NewPages(t.Context(), c.object())
	defer r.Close()
	if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{io.NewSectionReader(r, 0, r.Size())}, make([]byte, 5000)); err != nil {
		t.Error(err)
	}
	if c.requests.Load() != 12 {
		t.Errorf("%d requests", c.requests.Load())
	}
}

func TestManyGoroutinesMayReadPagesAtOnceAndFewAreKept(t *testing.T) {
	c := newCounted(15 << 20)
	r := NewPages(t.Context(), c.object())
	defer r.Close()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(w)))
			p := make([]byte, 100_000)
			for range 40 {
				off := rnd.Int64N(int64(len(c.data) - len(p)))
				if _, err := r.ReadAt(p, off); err != nil || !bytes.Equal(p, c.data[off:off+int64(len(p))]) {
					t.Errorf("at %d: error %v", off, err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(r.pages); n > pagesCached {
		t.Errorf("%d pages are kept", n)
	}
}
