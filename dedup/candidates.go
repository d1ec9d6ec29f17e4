package dedup

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/radix"
	"github.com/alike-dev/alike/lsh"
)

// pair is two representatives worth comparing, a < b.
type pair struct{ a, b uint32 }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
}

// grouper finds candidate pairs of representatives: those that agree in at least
// banding.MinBands bands. Bands are gone through one after the other, each
// grouped by all workers, so that only one band's entries are in memory.
//
// A pair is emitted in the band in which it agrees for the MinBands-th time. A
// bucket over the cap does not count as agreement: its keys are replaced by
// values of the documents' own once its members have been compared with its
// smallest, so that a pair which also shares an ordinary bucket is still found.
//
// Who wants all pairs takes all of them. Who wants clusters only would compare
// far too much that way, since a family of n near-copies makes n²/2 pairs. It
// takes spokes first: in every bucket, the pairs of the smallest member. Those
// verified join most families already. Then it takes what crosses: the other
// pairs, but only those that are not in one cluster yet. The clusters are the
// same, for a pair within a cluster cannot change it.
type grouper struct {
	t       *table
	config  *Config
	banding lsh.Params
	reps    []uint32
	radix   radix.Grouper
	capped  int64 // buckets over the cap so far

	workers []groupWorker
}

// groupWorker is what belongs to one goroutine of a grouper.
type groupWorker struct {
	found  []pair
	hot    [][]uint32 // buckets of the band in hand that are over the cap
	bucket []uint32   // scratch
	large  bucketList // what spokes leaves to crossing
}

// bucketList is buckets with the bands they are of.
type bucketList struct {
	members []uint32 // of all buckets, one after the other
	ends    []int
	bands   []int
}

func (l *bucketList) add(band int, bucket []uint32) {
	l.members = append(l.members, bucket...)
	l.ends = append(l.ends, len(l.members))
	l.bands = append(l.bands, band)
}

func newGrouper(t *table, c *classes, config *Config, banding lsh.Params) *grouper {
	g := &grouper{t: t, config: config, banding: banding, workers: make([]groupWorker, config.Threads)}
	for i := range t.docs {
		if doc := uint32(i); t.compared(doc) && c.isRep(doc) {
			g.reps = append(g.reps, doc)
		}
	}
	return g
}

// all returns all candidate pairs, in order.
func (g *grouper) all(ctx context.Context) ([]pair, error) {
	return g.eachBucket(ctx, func(w *groupWorker, band int, bucket []uint32) {
		lsh.EachPair(bucket, g.config.BucketCap, func(a, b uint32) { g.emit(w, band, a, b) })
	})
}

// spokes returns the candidate pairs of the smallest member of each bucket and,
// of those over the cap, all that the bucket rule leaves.
func (g *grouper) spokes(ctx context.Context) ([]pair, error) {
	return g.eachBucket(ctx, func(w *groupWorker, band int, bucket []uint32) {
		if len(bucket) > g.config.BucketCap {
			lsh.EachPair(bucket, g.config.BucketCap, func(a, b uint32) { g.emit(w, band, a, b) })
			return
		}
		for _, doc := range bucket[1:] {
			g.emit(w, band, bucket[0], doc)
		}
		if len(bucket) > 2 {
			w.large.add(band, bucket[1:])
		}
	})
}

// crossing returns the candidate pairs that spokes has left out and whose
// documents have different labels.
func (g *grouper) crossing(ctx context.Context, labels []uint32) ([]pair, error) {
	var group errgroup.Group
	for i := range g.workers {
		w := &g.workers[i]
		group.Go(func() error {
			start := 0
			for i, end := range w.large.ends {
				bucket := w.large.members[start:end]
				for j, a := range bucket {
					for _, b := range bucket[j+1:] {
						if labels[a] != labels[b] {
							g.emit(w, w.large.bands[i], a, b)
						}
					}
				}
				start = end
				if ctx.Err() != nil {
					break
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return g.take(), nil
}

// eachBucket visits all buckets of all bands, with the worker that may emit their
// pairs, and returns the pairs.
func (g *grouper) eachBucket(ctx context.Context, visit func(w *groupWorker, band int, bucket []uint32)) ([]pair, error) {
	entries := make([]radix.Entry, len(g.reps))
	for band := range g.banding.Bands {
		g.fill(entries, band)
		err := g.radix.EachPart(ctx, entries, g.config.Threads, func(worker int, part []radix.Entry) error {
			w := &g.workers[worker]
			radix.Runs(part, func(run []radix.Entry) { visit(w, band, w.members(run, g.config.BucketCap)) })
			return nil
		})
		if err != nil {
			return nil, err
		}
		g.cool(band)
		g.config.Progress.Advance(int64(len(g.reps)), 0)
	}
	return g.take(), nil
}

// fill makes a band's entries. Keys lie apart by all bands of a document, so
// this waits for memory and is shared out.
func (g *grouper) fill(entries []radix.Entry, band int) {
	var group sync.WaitGroup
	n, threads := len(entries), g.config.Threads
	for w := range threads {
		group.Go(func() {
			for i := n * w / threads; i < n*(w+1)/threads; i++ {
				doc := g.reps[i]
				entries[i] = radix.Entry{Key: g.t.keysOf(doc)[band], Doc: doc}
			}
		})
	}
	group.Wait()
}

// members returns the documents of a run, and notes a bucket over the cap.
func (w *groupWorker) members(run []radix.Entry, limit int) []uint32 {
	w.bucket = w.bucket[:0]
	for _, e := range run {
		w.bucket = append(w.bucket, e.Doc)
	}
	if len(w.bucket) > limit {
		w.hot = append(w.hot, slices.Clone(w.bucket))
	}
	return w.bucket
}

// emit keeps a pair that agrees in band, once of all bands. References are not
// compared among themselves.
func (g *grouper) emit(w *groupWorker, band int, a, b uint32) {
	if b >= uint32(g.t.refs) && g.banding.Emits(band, g.t.keysOf(a), g.t.keysOf(b)) {
		w.found = append(w.found, pair{a, b})
	}
}

// take returns the pairs found so far, in order.
func (g *grouper) take() []pair {
	var pairs []pair
	for i := range g.workers {
		pairs = append(pairs, g.workers[i].found...)
		g.workers[i].found = nil
	}
	slices.SortFunc(pairs, pair.compare)
	return slices.Compact(pairs) // a hot bucket's pair may have come twice
}

// cool makes the keys of hot buckets unequal.
func (g *grouper) cool(band int) {
	for i := range g.workers {
		w := &g.workers[i]
		for _, members := range w.hot {
			for _, doc := range members {
				g.t.keysOf(doc)[band] = hashing.Mix(uint64(doc))
			}
			g.capped++
		}
		w.hot = nil
	}
}
