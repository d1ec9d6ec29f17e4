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

// candidates is the result of grouping: pairs in order, each once.
type candidates struct {
	pairs  []pair
	capped int64 // buckets over the cap
}

// groupByBands finds the pairs of representatives that agree in at least
// banding.MinBands bands. Bands are gone through one after the other, each
// grouped by all workers, so that only one band's entries are in memory.
//
// A pair is emitted in the band in which it agrees for the MinBands-th time. A
// bucket over the cap does not count as agreement: its keys are replaced by
// values of the documents' own once its members have been compared with its
// smallest, so that a pair which also shares an ordinary bucket is still found.
func groupByBands(ctx context.Context, t *table, c *classes, config *Config, banding lsh.Params) (*candidates, error) {
	reps := make([]uint32, 0, len(t.docs))
	for i := range t.docs {
		if doc := uint32(i); t.compared(doc) && c.isRep(doc) {
			reps = append(reps, doc)
		}
	}
	b := &bander{
		t: t, banding: banding, cap: config.BucketCap,
		found: make([][]pair, config.Threads), hot: make([][][]uint32, config.Threads),
	}
	entries := make([]radix.Entry, len(reps))
	var g radix.Grouper
	result := &candidates{}
	for band := range banding.Bands {
		for i, doc := range reps {
			entries[i] = radix.Entry{Key: t.keysOf(doc)[band], Doc: doc}
		}
		err := g.EachPart(ctx, entries, config.Threads, func(worker int, part []radix.Entry) error {
			radix.Runs(part, func(run []radix.Entry) { b.bucket(worker, band, run) })
			return nil
		})
		if err != nil {
			return nil, err
		}
		result.capped += b.cool(band)
		config.Progress.Advance(int64(len(reps)), 0)
	}
	result.pairs = slices.Concat(b.found...)
	slices.SortFunc(result.pairs, pair.compare)
	result.pairs = slices.Compact(result.pairs) // a hot bucket's pair may have come twice
	return result, nil
}

// bander emits the pairs of buckets. found and hot belong to one worker each.
type bander struct {
	t       *table
	banding lsh.Params
	cap     int
	found   [][]pair
	hot     [][][]uint32
}

func (b *bander) bucket(worker, band int, run []radix.Entry) {
	members := make([]uint32, len(run))
	for i, e := range run {
		members[i] = e.Doc
	}
	if members[0] < uint32(b.t.refs) && members[len(members)-1] < uint32(b.t.refs) {
		return // references among themselves
	}
	if len(members) > b.cap {
		b.hot[worker] = append(b.hot[worker], members)
	}
	lsh.EachPair(members, b.cap, func(x, y uint32) {
		if y < uint32(b.t.refs) {
			return
		}
		if b.banding.Emits(band, b.t.keysOf(x), b.t.keysOf(y)) {
			b.found[worker] = append(b.found[worker], pair{x, y})
		}
	})
}

// cool makes the keys of hot buckets unequal and returns how many there were.
func (b *bander) cool(band int) (buckets int64) {
	for worker, hot := range b.hot {
		for _, members := range hot {
			for _, doc := range members {
				b.t.keysOf(doc)[band] = hashing.Mix(uint64(doc))
			}
			buckets++
		}
		b.hot[worker] = nil
	}
	return buckets
}
