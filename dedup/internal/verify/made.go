package verify

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
)

// Where documents are in very many pairs, as at low thresholds, units read them again and again.
// Then the sets of a small corpus are made once, all before the first pair: if they take no more
// than madeMost bytes, and an eighth of the memory for data has room for them. Of 5,205 articles with
// 250,000 pairs by 5 characters, whose sets take 60 MiB, that is 3.5 seconds of a processor in place of 14.8.
// Forecasts count on forecastMost, so that what they choose does not depend on this limit.
const (
	madeMost     = 128 << 20
	forecastMost = 48 << 20
	madeHeader   = 24 // of each document; outlines are not counted
)

// made is a set that was made once for all units, with its outline.
type made struct{ set, outline []uint64 }

// manyPairs tells whether making all sets pays off: documents are in two pairs each, on average.
func (v *Options) manyPairs(pairs *extsort.Sorted) bool {
	t, room := v.Records.Table, v.Graph.Space.Share(8)
	return pairs.Len() >= int64(t.Docs) && sizeOfSets(int64(t.Docs), t.Features) <= madeMost && (room == 0 || sizeOfSets(int64(t.Docs), t.Features) <= room)
}

// SetsFit tells whether the sets of so many documents may be made once when documents are in many pairs: this
// still requires that the memory for data has room for them.
func SetsFit(docs, features int64) bool { return sizeOfSets(docs, features) <= forecastMost }

func sizeOfSets(docs, features int64) int64 { return 8*features + madeHeader*docs }

// madeChunk is how many documents a worker takes at once.
const madeChunk = 64

// makeSets makes the sets of all documents in pairs.
func (v *Options) makeSets(ctx context.Context, pairs *extsort.Sorted) error {
	wanted, err := graph.Docs(pairs, v.Records.Table.Docs)
	if err == nil {
		err = v.Records.PrepareSets(ctx, wanted)
	}
	if err != nil {
		return err
	}
	all := make([]made, v.Records.Table.Docs)
	outlines := outlinesFor(int(v.Records.Table.Features / int64(len(all))))
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	for range v.Graph.Space.Threads {
		workers.Go(func() error {
			sets := v.Records.NewSets(ctx)
			defer sets.Close()
			for ctx.Err() == nil {
				first := int(next.Add(madeChunk)) - madeChunk
				if first >= len(all) {
					return nil
				}
				for doc := first; doc < min(first+madeChunk, len(all)); doc++ {
					if !wanted.Has(uint32(doc)) {
						continue
					}
					set, err := sets.Of(uint32(doc))
					if err != nil {
						return err
					}
					all[doc] = made{slices.Clone(set), outlines.of(set)}
				}
			}
			return ctx.Err()
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	v.made = all
	return nil
}

// outlines are bitmaps of sets: an element stands for one of their bits. Each bit that one set has and another one
// lacks stands for an element that only the first one has, so the sets have no more in common than the first one has
// elements without these. That rules out nearly all pairs of texts that have little in common, in a tenth of the time
// that merging their sets takes.
type outlines struct {
	words int
	shift uint // of a mixed element to its bit
}

// Outlines have eight to sixteen bits for each element of a set of mean size, as far as they are within these bounds.
const (
	outlineBits  = 8
	outlineLeast = 64
	outlineMost  = 1 << 16
)

func outlinesFor(mean int) outlines {
	width := bits.Len(uint(min(max(outlineBits*mean, outlineLeast), outlineMost) - 1))
	return outlines{1 << width / 64, uint(64 - width)}
}

func (o outlines) of(set []uint64) []uint64 {
	outline := make([]uint64, o.words)
	for _, v := range set {
		bit := hashing.Mix(v) >> (o.shift & 63)
		outline[bit/64] |= 1 << (bit % 64)
	}
	return outline
}

// mostCommon returns how many elements two sets have in common at most.
func mostCommon(a, b made) int {
	onlyA, onlyB := 0, 0
	other := b.outline[:len(a.outline)]
	for i, x := range a.outline {
		y := other[i]
		onlyA += bits.OnesCount64(x &^ y)
		onlyB += bits.OnesCount64(y &^ x)
	}
	return min(len(a.set)-onlyA, len(b.set)-onlyB)
}
