// Package radix groups 64-bit keys in memory: the GROUP step of every engine
// that holds its band keys in RAM.
//
// Keys are hashes, so one pass over their top bits already cuts them into
// equal parts that fit in cache; each part is then sorted on its own by one
// worker. Equal keys never cross parts. Keys that are not uniform are sorted
// just as rightly, only less evenly shared out.
package radix

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Entry is a key and the number of the document that has it.
type Entry struct {
	Key uint64
	Doc uint32
}

// insertionMax is the length up to which insertion sort beats pdqsort.
const insertionMax = 24

// partSize is the aimed-at number of entries in a part: 16 B each, so that a
// part and its bookkeeping stay in a 1 MiB second-level cache.
const partSize = 1 << 14

// bucketSize is the aimed-at number of entries in a bucket of a part.
const bucketSize = 4

// Grouper sorts entries with scratch memory that is kept between calls. It
// belongs to one goroutine, which it lends workers for the time of a call.
type Grouper struct {
	scratch []Entry
	counts  [][]int // a histogram for each worker
}

// EachPart sorts entries by key, then document, and calls visit once for every
// part: a run of sorted entries such that all entries of a key are in one
// part. Parts come in no fixed order, from up to threads goroutines at once;
// worker tells which one (0 ≤ worker < threads). The slice passed to visit is
// valid during the call; it is a piece of entries, which is left sorted.
// Cost: two passes over memory; O(n log n) only where keys are not uniform.
func (g *Grouper) EachPart(ctx context.Context, entries []Entry, threads int, visit func(worker int, part []Entry) error) error {
	threads = max(1, min(threads, len(entries)/partSize+1))
	partBits := bits.Len(uint(len(entries) / partSize))
	parts := 1 << partBits
	ends, err := g.scatter(ctx, entries, threads, partBits)
	if err != nil {
		return err
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range threads {
		group.Go(func() error {
			for {
				p := int(next.Add(1)) - 1
				if p >= parts || ctx.Err() != nil {
					return ctx.Err()
				}
				start := 0
				if p > 0 {
					start = ends[p-1]
				}
				part := entries[start:ends[p]]
				g.sortPart(worker, part, g.scratch[start:ends[p]], partBits)
				if err := visit(worker, part); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// scatter moves entries into g.scratch, ordered by their top partBits bits and
// within a part by their old order, and returns the end of every part.
func (g *Grouper) scatter(ctx context.Context, entries []Entry, threads, partBits int) ([]int, error) {
	parts := 1 << partBits
	shift := 64 - uint(partBits)
	g.scratch = slices.Grow(g.scratch[:0], len(entries))[:len(entries)]
	for len(g.counts) < threads {
		g.counts = append(g.counts, nil)
	}
	share := func(w int) []Entry { return entries[len(entries)*w/threads : len(entries)*(w+1)/threads] }
	err := inParallel(ctx, threads, func(w int) {
		counts := slices.Grow(g.counts[w][:0], parts)[:parts]
		clear(counts)
		for _, e := range share(w) {
			counts[e.Key>>shift]++ // a shift by 64 is 0 in Go: one part
		}
		g.counts[w] = counts
	})
	if err != nil {
		return nil, err
	}
	ends := make([]int, parts)
	at := 0
	for p := range parts {
		for w := range threads {
			n := g.counts[w][p]
			g.counts[w][p] = at
			at += n
		}
		ends[p] = at
	}
	return ends, inParallel(ctx, threads, func(w int) {
		places := g.counts[w]
		for _, e := range share(w) {
			p := e.Key >> shift
			g.scratch[places[p]] = e
			places[p]++
		}
	})
}

// inParallel runs f(0) … f(n−1) at once.
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

// sortPart writes the entries of from, all of which share their top used bits,
// to part, sorted by key, then document. Another cut by the next bits leaves a
// few entries a bucket when keys are uniform. The whole of EachPart takes 17 ns an
// entry (BenchmarkEachPart); pdqsort of the part alone would take 75.
func (g *Grouper) sortPart(worker int, part, from []Entry, used int) {
	bucketBits := bits.Len(uint(len(from) / bucketSize))
	buckets := 1 << bucketBits
	counts := slices.Grow(g.counts[worker][:0], buckets+1)[:buckets+1]
	g.counts[worker] = counts
	clear(counts)
	left, right := uint(used), 64-uint(bucketBits)
	for _, e := range from {
		counts[e.Key<<left>>right+1]++
	}
	for b := range buckets {
		counts[b+1] += counts[b]
	}
	for _, e := range from {
		b := e.Key << left >> right
		part[counts[b]] = e
		counts[b]++
	}
	start := 0
	for _, end := range counts[:buckets] { // each count has become its bucket's end
		sortBucket(part[start:end])
		start = end
	}
}

// sortBucket sorts by key, then document. A hot key makes a bucket long, so
// insertion is for short ones only.
func sortBucket(bucket []Entry) {
	if len(bucket) > insertionMax {
		slices.SortFunc(bucket, compare)
		return
	}
	for i := 1; i < len(bucket); i++ {
		e := bucket[i]
		j := i
		for ; j > 0 && less(e, bucket[j-1]); j-- {
			bucket[j] = bucket[j-1]
		}
		bucket[j] = e
	}
}

func less(a, b Entry) bool {
	return a.Key < b.Key || a.Key == b.Key && a.Doc < b.Doc
}

func compare(a, b Entry) int {
	if a.Key != b.Key {
		return cmp.Compare(a.Key, b.Key)
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// Runs calls visit for every run of two or more equal keys in a sorted part.
func Runs(part []Entry, visit func(run []Entry)) {
	for start := 0; start < len(part); {
		end := start + 1
		for end < len(part) && part[end].Key == part[start].Key {
			end++
		}
		if end-start > 1 {
			visit(part[start:end])
		}
		start = end
	}
}
