package extsort

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// table holds a sorter's entries in memory, split by their top bits into parts, each of which is
// sorted when it is first read.
type table struct {
	plan    plan
	sum     bool
	entries []Entry
	parts   []part
	shift   uint    // a key's part is key>>shift, at most the last part
	counts  [][]int // a histogram for each worker
	kernels kernels
}

type part struct {
	once       sync.Once
	start, end int // end decreases when equal keys are combined
}

// kernels are kept for later workers.
type kernels struct {
	mu   sync.Mutex
	free []*kernel
}

func (k *kernels) take(partLen int) *kernel {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.free); n > 0 {
		kernel := k.free[n-1]
		k.free = k.free[:n-1]
		return kernel
	}
	return newKernel(partLen)
}

func (k *kernels) give(kernel *kernel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.free = append(k.free, kernel)
}

// load moves the n entries of chunks into the table, part by part, without changing their order
// within a part.
func (t *table) load(ctx context.Context, chunks [][]Entry, n int) error {
	threads := max(1, min(t.plan.threads, n/t.plan.part+1))
	partBits := min(uint(bits.Len(uint(n/t.plan.part))), t.plan.keyBits)
	parts := 1 << partBits
	t.shift = t.plan.keyBits - partBits
	shift, last := t.shift, uint64(parts-1)
	if cap(t.entries) < n {
		length := n
		if t.plan.limit < math.MaxInt && n > t.plan.arena/2 {
			length = max(n, t.plan.arena) // the most that will ever be needed
		}
		t.entries = nil // freed before its successor is made
		t.entries = make([]Entry, length)
	}
	t.entries = t.entries[:n]
	for len(t.counts) < threads {
		t.counts = append(t.counts, nil)
	}
	share := func(w int) [][]Entry { return chunks[len(chunks)*w/threads : len(chunks)*(w+1)/threads] }
	err := inParallel(ctx, threads, func(w int) {
		counts := slices.Grow(t.counts[w][:0], parts)[:parts]
		clear(counts)
		for _, chunk := range share(w) {
			for i := range chunk {
				counts[min(chunk[i].Key>>shift, last)]++ // a shift by 64 is 0 in Go: one part
			}
		}
		t.counts[w] = counts
	})
	if err != nil {
		return err
	}
	t.layOut(parts, threads)
	return inParallel(ctx, threads, func(w int) {
		places := t.counts[w]
		for _, chunk := range share(w) {
			for _, e := range chunk {
				p := min(e.Key>>shift, last)
				t.entries[places[p]] = e
				places[p]++
			}
		}
	})
}

// layOut sets the bounds of the parts, and turns each worker's histogram into the places of its
// next entry of each part.
func (t *table) layOut(parts, threads int) {
	t.parts = slices.Grow(t.parts[:0], parts)[:parts]
	at := 0
	for p := range parts {
		t.parts[p] = part{start: at}
		for w := range threads {
			n := t.counts[w][p]
			t.counts[w][p] = at
			at += n
		}
		t.parts[p].end = at
	}
}

// sorted returns part p, and sorts it first if that is not done yet.
func (t *table) sorted(p int, k *kernel) []Entry {
	part := &t.parts[p]
	part.once.Do(func() {
		a := t.entries[part.start:part.end]
		k.sort(a)
		if t.sum {
			part.end = part.start + len(combine(a))
		}
	})
	return t.entries[part.start:part.end]
}

// each calls visit with every part, sorted, in ascending order within a worker.
func (t *table) each(ctx context.Context, threads int, visit func(worker, p int, part []Entry) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range max(1, min(threads, len(t.parts))) {
		group.Go(func() error {
			k := t.kernels.take(t.plan.part)
			defer t.kernels.give(k)
			for {
				p := int(next.Add(1)) - 1
				if p >= len(t.parts) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := visit(worker, p, t.sorted(p, k)); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// sortAll sorts every part and returns the number of entries.
func (t *table) sortAll(ctx context.Context) (int, error) {
	err := t.each(ctx, t.plan.threads, func(int, int, []Entry) error { return nil })
	n := 0
	for p := range t.parts {
		n += t.parts[p].end - t.parts[p].start
	}
	return n, err
}

// inParallel runs f(0) … f(n−1) concurrently.
func inParallel(ctx context.Context, n int, f func(worker int)) error {
	var group errgroup.Group
	for w := range n {
		group.Go(func() error {
			f(w)
			return nil
		})
	}
	_ = group.Wait() // f cannot fail
	return ctx.Err()
}
