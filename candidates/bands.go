package candidates

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// bands finds pairs that share a band of weighted MinHash.
//
// Between two tables only keys of both tables make pairs. So the smaller table's keys are put into
// a Bloom filter, and of the larger table only keys that pass the filter are sorted. A false
// positive of the filter is alone in its bucket, so the pairs are the same.
func (f *finder) bands(ctx context.Context, pairs *extsort.Sorter) (err error) {
	if f.summary.Params, err = f.params(); err != nil {
		return err
	}
	keys, err := f.sorter("keys", false, 2, 0)
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

// addLarge adds the band keys of the larger table's records that can reach the least similarity
// with a record of the smaller table. It makes no signatures of the other records.
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

// params chooses bands and rows for the least similarity.
func (f *finder) params() (lsh.Params, error) {
	t, err := measure.NewThreshold(f.config.Measure, f.config.MinSimilarity)
	if err != nil {
		return lsh.Params{}, err
	}
	return bands.Tune(t, f.config.Recall)
}

// addKeys adds the band keys of the vectors of a store that reach others (nil: of all vectors), if
// keep returns true for the key.
func (f *finder) addKeys(ctx context.Context, keys *extsort.Sorter, s *Store, others *within, keep func(uint64) bool, isRight bool) error {
	var next, dropped, looked atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(f.config.Threads, len(s.chunks)) {
		keyer, err := bands.NewKeyer(f.summary.Params, f.config.Measure == measure.Cosine, f.squareShift())
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		b := &bander{keyer: keyer, names: f.config.Names, keep: keep, others: others, out: keys.Appender()}
		if isRight {
			b.side = bands.RightBit
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
	err := group.Wait()
	f.summary.Searched += int64(s.Len())
	f.summary.Dropped += dropped.Load()
	f.summary.Entries += looked.Load()
	return err
}

// squareShift returns by how many bits squared weights are shifted right to fit 32 bits.
func (f *finder) squareShift() int {
	largest := f.left.largest
	if f.right != nil {
		largest = max(largest, f.right.largest)
	}
	return max(0, 2*bits.Len32(largest)-32)
}

// bander makes band keys on one goroutine.
type bander struct {
	keyer    *bands.Keyer
	names    []uint64
	keep     func(key uint64) bool
	others   *within
	side     uint64
	out      *extsort.Appender
	block    block
	features []uint64
	keys     []uint64

	dropped, looked int64
}

// add adds the keys of a record.
func (b *bander) add(id uint64, v simjoin.Vector) error {
	if len(v.Features) == 0 || b.others != nil && !b.others.reaches(v) {
		b.dropped++
		return nil
	}
	b.features = b.features[:0]
	for _, f := range v.Features {
		name := uint64(f)
		if b.names != nil {
			name = b.names[f]
		}
		b.features = append(b.features, name)
	}
	b.keys = b.keyer.AppendKeys(b.keys[:0], b.features, v.Weights)
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
	workers, to := make([]*bands.Bucketer, threads), pairs.Appenders(threads)
	for i := range workers {
		workers[i] = &bands.Bucketer{Across: f.right != nil, Emit: func(l, r uint64) error { return to[i].Add(l<<pairShift|r, 1) }}
	}
	err := keys.Each(ctx, threads, func(worker int, part []extsort.Entry, more bool) error {
		return workers[worker].Part(part, more)
	})
	for _, w := range workers {
		f.summary.Capped += w.Capped
	}
	return extsort.Flush(to, err)
}

// within tells which vectors of one store can reach a threshold with any vector of another store.
// It holds one bit for each feature number: whether the other store has that feature.
//
// Let a vector of size B have the mass m, by the measure, in features of the other store. Its
// overlap with any vector there is at most m (for Cosine by Cauchy-Schwarz). So its similarity to
// such a vector is at most its similarity to the part of itself that has these features.
type within struct {
	measure   measure.Measure
	threshold measure.Threshold
	there     bitset.Set[uint32]
}

// newWithin reads all vectors of the other store. O(features).
func newWithin(other *Store, t measure.Threshold) (*within, error) {
	w := &within{t.Measure(), t, bitset.New[uint32](int(other.numbers))}
	err := other.sample(1, func(v simjoin.Vector) error {
		for _, f := range v.Features {
			w.there.Add(f)
		}
		return nil
	})
	return w, err
}

// reaches tells whether a vector can reach the threshold.
func (w *within) reaches(v simjoin.Vector) bool {
	mass, size := uint64(0), v.Size(w.measure)
	for i, f := range v.Features {
		if w.there.Has(f) {
			x := uint64(v.Weights[i])
			if w.measure == measure.Cosine {
				x *= x
			}
			mass += x
		}
	}
	return w.threshold.Reached(mass, mass, size)
}
