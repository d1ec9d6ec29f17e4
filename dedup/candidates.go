package dedup

import (
	"cmp"
	"context"
	"slices"

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

	// Of each worker.
	found   [][]pair
	hot     [][][]uint32
	members [][]uint32 // scratch
}

func newGrouper(t *table, c *classes, config *Config, banding lsh.Params) *grouper {
	g := &grouper{
		t: t, config: config, banding: banding,
		found: make([][]pair, config.Threads), hot: make([][][]uint32, config.Threads), members: make([][]uint32, config.Threads),
	}
	for i := range t.docs {
		if doc := uint32(i); t.compared(doc) && c.isRep(doc) {
			g.reps = append(g.reps, doc)
		}
	}
	return g
}

// all returns all candidate pairs, in order.
func (g *grouper) all(ctx context.Context) ([]pair, error) {
	return g.pairs(ctx, func(bucket []uint32, emit func(a, b uint32)) {
		lsh.EachPair(bucket, g.config.BucketCap, emit)
	})
}

// spokes returns the candidate pairs of the smallest member of each bucket and,
// of those over the cap, all that the bucket rule leaves.
func (g *grouper) spokes(ctx context.Context) ([]pair, error) {
	return g.pairs(ctx, func(bucket []uint32, emit func(a, b uint32)) {
		if len(bucket) > g.config.BucketCap {
			lsh.EachPair(bucket, g.config.BucketCap, emit)
			return
		}
		for _, doc := range bucket[1:] {
			emit(bucket[0], doc)
		}
	})
}

// crossing returns the candidate pairs that spokes has left out and whose
// documents have different labels.
func (g *grouper) crossing(ctx context.Context, labels []uint32) ([]pair, error) {
	return g.pairs(ctx, func(bucket []uint32, emit func(a, b uint32)) {
		for i, a := range bucket[1:] {
			for _, b := range bucket[i+2:] {
				if labels[a] != labels[b] {
					emit(a, b)
				}
			}
		}
	})
}

// pairs goes through all buckets of all bands. choose emits pairs of a bucket,
// which holds until it returns.
func (g *grouper) pairs(ctx context.Context, choose func(bucket []uint32, emit func(a, b uint32))) ([]pair, error) {
	entries := make([]radix.Entry, len(g.reps))
	for band := range g.banding.Bands {
		for i, doc := range g.reps {
			entries[i] = radix.Entry{Key: g.t.keysOf(doc)[band], Doc: doc}
		}
		err := g.radix.EachPart(ctx, entries, g.config.Threads, func(worker int, part []radix.Entry) error {
			radix.Runs(part, func(run []radix.Entry) {
				choose(g.bucket(worker, run), func(a, b uint32) { g.emit(worker, band, a, b) })
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
		g.cool(band)
		g.config.Progress.Advance(int64(len(g.reps)), 0)
	}
	pairs := slices.Concat(g.found...)
	clear(g.found)
	slices.SortFunc(pairs, pair.compare)
	return slices.Compact(pairs), nil // a hot bucket's pair may have come twice
}

// bucket returns the members of a run, and notes one over the cap.
func (g *grouper) bucket(worker int, run []radix.Entry) []uint32 {
	members := g.members[worker][:0]
	for _, e := range run {
		members = append(members, e.Doc)
	}
	g.members[worker] = members
	if len(members) > g.config.BucketCap {
		g.hot[worker] = append(g.hot[worker], slices.Clone(members))
	}
	return members
}

// emit keeps a pair that agrees in band, once of all bands. References are not
// compared among themselves.
func (g *grouper) emit(worker, band int, a, b uint32) {
	if b >= uint32(g.t.refs) && g.banding.Emits(band, g.t.keysOf(a), g.t.keysOf(b)) {
		g.found[worker] = append(g.found[worker], pair{a, b})
	}
}

// cool makes the keys of hot buckets unequal.
func (g *grouper) cool(band int) {
	for worker, hot := range g.hot {
		for _, members := range hot {
			for _, doc := range members {
				g.t.keysOf(doc)[band] = hashing.Mix(uint64(doc))
			}
			g.capped++
		}
		g.hot[worker] = nil
	}
}
