package candidates

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/simjoin"
)

const (
	// components of a signature. Bands take as many of them as the recall needs.
	components = 128
	bandSeed   = 1
	// bucketMost is the size up to which all pairs of a bucket are taken.
	bucketMost = 1000
)

// bands finds pairs that share a band of weighted MinHash.
//
// Of two tables only keys that both have make pairs. The smaller one's keys are put into a
// Bloom filter first, and of the larger one nothing is sorted but the keys that the filter
// may have: a key that it lets pass wrongly meets none in its bucket, so pairs are the same.
func (f *finder) bands(ctx context.Context, pairs *extsort.Sorter) (err error) {
	if f.summary.Params, err = f.params(); err != nil {
		return err
	}
	keys, err := f.sorter("keys", false, 2)
	if err != nil {
		return err
	}
	small, large, largeIsLeft := f.sides()
	var filter *bloom.Filter
	if f.right != nil && !f.config.Unfiltered {
		filter = bloom.New(small.Len() * f.summary.Params.Bands)
	}
	err = f.addKeys(ctx, keys, small, nil, func(key uint64) bool {
		if filter != nil {
			filter.AddShared(key)
		}
		return true
	}, f.right != nil && largeIsLeft)
	if err == nil && f.right != nil {
		f.summary.Searched, f.summary.Dropped = 0, 0
		err = f.addLarge(ctx, keys, small, large, func(key uint64) bool { return filter == nil || filter.Has(key) }, !largeIsLeft)
	}
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	return errors.Join(f.buckets(ctx, sorted, pairs), sorted.Close())
}

// addLarge adds the band keys of those records of the larger table that can reach the least
// similarity with a record of the smaller one: of the others there is not even a signature.
func (f *finder) addLarge(ctx context.Context, keys *extsort.Sorter, small, large *Store, keep func(uint64) bool, isRight bool) error {
	t, err := measure.NewThreshold(f.config.Measure, f.config.MinSimilarity)
	if err != nil {
		return err
	}
	reaches, err := newWithin(small, t)
	if err != nil {
		return err
	}
	return f.addKeys(ctx, keys, large, reaches, keep, isRight)
}

// params tunes bands for the least similarity.
func (f *finder) params() (lsh.Params, error) {
	t, err := measure.NewThreshold(f.config.Measure, f.config.MinSimilarity)
	if err != nil {
		return lsh.Params{}, err
	}
	return lsh.TuneFor(t, f.config.Recall, components, 32)
}

// rightBit marks entries of the right table.
const rightBit = 1 << 63

// addKeys adds the band keys of a store that keep wants, of vectors that reach others; nil: of
// all.
func (f *finder) addKeys(ctx context.Context, keys *extsort.Sorter, s *Store, others *within, keep func(uint64) bool, isRight bool) error {
	scheme, err := minhash.Weighted(components, 32, bandSeed)
	if err != nil {
		return err
	}
	var next, dropped, looked atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(f.config.Threads, len(s.chunks)) {
		b := &bander{
			sketcher: scheme.NewWeightedSketcher(), params: f.summary.Params, keep: keep, others: others,
			shift: f.squareShift(), out: keys.Appender(), signature: make([]uint32, components),
		}
		if isRight {
			b.side = rightBit
		}
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(s.chunks)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				vectors, err := s.read(int(i), &b.block)
				if err != nil {
					return err
				}
				for k := range vectors.Len() {
					if err := b.add(uint64(int(i)*chunkVectors+k), vectors.At(k)); err != nil {
						return err
					}
				}
			}
			dropped.Add(b.dropped)
			looked.Add(b.looked)
			return b.out.Flush()
		})
	}
	err = group.Wait()
	f.summary.Searched += int64(s.Len())
	f.summary.Dropped += dropped.Load()
	f.summary.Entries += looked.Load()
	return err
}

// squareShift returns by how many bits squared weights are shifted to fit 32, or −1 where
// they are not squared: for Cosine the squares are what similarity is the share of.
func (f *finder) squareShift() int {
	if f.config.Measure != measure.Cosine {
		return -1
	}
	largest := f.left.largest
	if f.right != nil {
		largest = max(largest, f.right.largest)
	}
	return max(0, 2*bits.Len32(largest)-32)
}

// bander makes band keys on one goroutine.
type bander struct {
	sketcher  *minhash.WeightedSketcher
	params    lsh.Params
	keep      func(key uint64) bool
	others    *within
	side      uint64
	shift     int
	out       *extsort.Appender
	block     block
	features  []uint64
	weights   []uint32
	signature []uint32
	keys      []uint64

	dropped, looked int64
}

// add adds the keys of a record.
func (b *bander) add(id uint64, v simjoin.Vector) error {
	if len(v.Features) == 0 || b.others != nil && !b.others.reaches(v) {
		b.dropped++
		return nil
	}
	b.features, b.weights = b.features[:0], b.weights[:0]
	for i, f := range v.Features {
		w := uint64(v.Weights[i])
		if b.shift >= 0 {
			w = min(max(w*w>>b.shift, 1), math.MaxUint32)
		}
		b.features, b.weights = append(b.features, uint64(f)), append(b.weights, uint32(w))
	}
	b.sketcher.SketchWeighted(b.signature, b.features, b.weights)
	b.keys = b.params.AppendKeys(b.keys[:0], b.signature)
	b.looked += int64(len(b.keys))
	kept := false
	for _, key := range b.keys {
		if !b.keep(key) {
			continue
		}
		kept = true
		if err := b.out.Add(key, b.side|id); err != nil {
			return err
		}
	}
	if !kept {
		b.dropped++
	}
	return nil
}

// buckets emits the pairs of records with equal keys.
func (f *finder) buckets(ctx context.Context, keys *extsort.Sorted, pairs *extsort.Sorter) error {
	threads := f.config.Threads
	workers := make([]*bucketer, threads)
	for i := range workers {
		workers[i] = &bucketer{out: pairs.Appender(), across: f.right != nil}
	}
	err := keys.Each(ctx, threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].part(part, more)
	})
	for _, w := range workers {
		err = errors.Join(err, w.out.Flush())
		f.summary.Capped += w.capped
	}
	return err
}

// bucketer emits pairs on one goroutine.
type bucketer struct {
	out         *extsort.Appender
	across      bool
	left, right []uint64 // members of a bucket; of one table all are left
	hubsLeft    []uint64 // first members of a bucket that comes in several parts
	hubsRight   []uint64
	within      bool // such a bucket
	capped      int64
	err         error
}

// part emits the pairs of entries of whole keys, or of a piece of one key's: more says
// that others of the same key follow. Pieces are paired with the first members of the first
// one, as those of any bucket over the cap.
func (b *bucketer) part(entries []extsort.Entry, more bool) error {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Key == entries[0].Key {
			n++
		}
		b.bucket(entries[:n], more)
		entries = entries[n:]
	}
	return b.err
}

func (b *bucketer) bucket(entries []extsort.Entry, more bool) {
	b.left, b.right = b.left[:0], b.right[:0]
	for _, e := range entries {
		if e.Value&rightBit != 0 {
			b.right = append(b.right, e.Value&^rightBit)
		} else {
			b.left = append(b.left, e.Value)
		}
	}
	pieces := b.within || more
	if !b.within {
		b.hubsLeft = append(b.hubsLeft[:0], b.left[:min(lsh.Hubs, len(b.left))]...)
		b.hubsRight = append(b.hubsRight[:0], b.right[:min(lsh.Hubs, len(b.right))]...)
	} else if len(b.hubsRight) < lsh.Hubs { // members of the right come last
		b.hubsRight = append(b.hubsRight, b.right[:min(lsh.Hubs-len(b.hubsRight), len(b.right))]...)
	}
	small := pairsOf(b.left, b.right, b.across) <= bucketMost*(bucketMost-1)/2 && !pieces
	if !small && !b.within {
		b.capped++
	}
	b.within = more
	left, right := b.left, b.right
	switch {
	case small && b.across:
		b.product(left, right)
	case small:
		for i := range left {
			b.product(left[i:i+1], left[i+1:])
		}
	case b.across:
		b.product(left, b.hubsRight)
		for _, r := range right {
			for _, l := range b.hubsLeft {
				b.emit(l, r)
			}
		}
	default:
		b.product(b.hubsLeft, left)
	}
}

// pairsOf returns how many pairs a bucket has.
func pairsOf(left, right []uint64, across bool) int {
	if across {
		return len(left) * len(right)
	}
	return len(left) * (len(left) - 1) / 2
}

func (b *bucketer) product(left, right []uint64) {
	for _, l := range left {
		for _, r := range right {
			b.emit(l, r)
		}
	}
}

// emit adds a pair. Of one table hubs come before all other members.
func (b *bucketer) emit(l, r uint64) {
	if b.err != nil || !b.across && l >= r {
		return
	}
	b.err = b.out.Add(l<<pairShift|r, 1)
}
