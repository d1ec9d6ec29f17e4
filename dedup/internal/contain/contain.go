// Package contain finds candidates by containment: pairs of documents of which one has most
// of the other one's features, and may have many more.
//
//	the samples of all documents   → a filter of their keys
//	the sets of all documents      → (key, document) for keys that pass; a document's own sample has votes
//	equal keys                     → a list of the documents that have the key, for each that samples it
//	the lists of a document        → votes for each pair of it and a document in them
//
// See lsh.Sample for the pairs that are found. Only a few entries are sorted for each document,
// however large it is: those of its sample, and those that it shares with samples of others. Where no pair may be
// missed, the rarest features of a document take the place of its sample: see rarest.
package contain

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

// Options say which pairs to find.
type Options struct {
	Graph   graph.Graph
	Records *reread.Store      // of the documents; their table has the keys of samples
	Docs    bitset.Set[uint32] // representatives
	Sides   *sides.Policy
	engine.Sampling
	Exact    bool        // no pair is missed: there are no samples, and no cap
	Sizes    bool        // whether the sizes of sets are wanted
	Log      *resume.Log // nil: nothing is noted
	Progress meter.Progress

	listed int64 // numbers in lists at once; 0: listsMost, or what the memory has room for
}

// Found are pairs in the form of package group, with at least Sample.Agree votes; documents of keys over
// the cap are hot.
type Found struct {
	group.Met
	Sizes *extsort.Sorted // Key: a document in a pair, or a hot one, Value: the size of its set; nil unless wanted
}

// Candidates returns the candidate pairs of representatives. The caller releases Met and Sizes.
func Candidates(ctx context.Context, o Options) (*Found, error) {
	kept := []extsort.Options{o.pairSorting(), o.hotSorting()}
	if o.Sizes {
		kept = append(kept, o.sizeSorting())
	}
	found := &Found{Met: group.Met{Space: o.Graph.Space}}
	sorted, capped, err := o.Log.Step(ctx, "contained", func() ([]*extsort.Sorted, int64, error) { return o.find(ctx) }, kept...)
	if err != nil {
		return nil, err
	}
	found.Pairs, found.Hot, found.Capped = sorted[0], sorted[1], capped
	if o.Sizes {
		found.Sizes = sorted[2]
	}
	return found, nil
}

// pairSorting sorts pairs, each of which may be found from both of its documents.
func (o *Options) pairSorting() extsort.Options {
	sorting := o.Graph.Sorting("meetings", 8)
	sorting.Sum = true
	return sorting
}

func (o *Options) hotSorting() extsort.Options  { return o.Graph.Space.Sorting("hubs", 16, 64) }
func (o *Options) sizeSorting() extsort.Options { return o.Graph.ByDoc("sizes", 8) }

// find returns pairs, the documents of keys over the cap and, if wanted, sizes.
func (o *Options) find(ctx context.Context) (found []*extsort.Sorted, capped int64, err error) {
	wanted := o.keys
	if o.Exact {
		o.Sample, wanted = lsh.Sample{Size: exactAgree, Agree: exactAgree}, o.rareKeys
	}
	keys, err := wanted(ctx)
	if err != nil {
		return nil, 0, err
	}
	pairs, hot, capped, err := o.vote(ctx, keys)
	if err = errors.Join(err, o.Graph.Space.Release(keys)); err != nil {
		return nil, 0, errors.Join(err, o.Graph.Space.ReleaseAll(pairs, hot))
	}
	found = []*extsort.Sorted{pairs, hot}
	if !o.Sizes {
		return found, capped, nil
	}
	sizes, err := o.sizes(ctx, pairs, hot)
	if err != nil {
		return nil, 0, errors.Join(err, o.Graph.Space.ReleaseAll(found...))
	}
	return append(found, sizes), capped, nil
}

// inside tells whether pairs are wanted in which the document is inside the other one.
func (o *Options) inside(doc uint32) bool {
	directed := o.Sides.Apart() && !o.Threshold.Measure().Symmetric() // from left to right
	return !o.Sides.Reference(doc) && (!directed || o.Sides.Left(doc))
}

// keys returns, for all documents, their keys that are in the filter; see value. It goes through all sets.
func (o *Options) keys(ctx context.Context) (*extsort.Sorted, error) {
	filter, err := o.filter(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.Records.PrepareSets(ctx, o.Docs); err != nil {
		return nil, err
	}
	sorter, err := extsort.New(o.Graph.Space.Sorting("contained", 4, 64))
	if err != nil {
		return nil, err
	}
	to := sorter.Appenders(o.Graph.Space.Threads)
	lookers := make([]*engine.Looker, len(to))
	for i := range lookers {
		lookers[i] = o.NewLooker()
	}
	err = o.each(ctx, o.Docs, func(worker int, doc uint32, sets *reread.Sets) error {
		features, err := sets.Features(doc)
		if err != nil {
			return err
		}
		within := sets.Within(doc)
		hashes, last, votes := lookers[worker].Look(features, within, o.inside(doc), filter.hasAll)
		for _, hash := range hashes {
			own := 0
			if hash <= last {
				own = votes
			}
			if err := to[worker].Add(within.Key(hash), o.value(doc, own)); err != nil {
				return err
			}
		}
		o.Progress.Advance(1, 0)
		return nil
	})
	return o.Graph.Space.Ended(ctx, sorter, extsort.Flush(to, err))
}

// sizes returns the sizes of the sets of documents in pairs, and of hot ones: no others can have edges.
func (o *Options) sizes(ctx context.Context, pairs, hot *extsort.Sorted) (*extsort.Sorted, error) {
	docs, err := graph.Docs(pairs, o.Graph.Docs)
	err = errors.Join(err, hot.Visit(func(e extsort.Entry) error {
		docs.Add(uint32(e.Value))
		return nil
	}))
	if err != nil {
		return nil, err
	}
	sorter, err := extsort.New(o.sizeSorting())
	if err != nil {
		return nil, err
	}
	to := sorter.Appenders(o.Graph.Space.Threads)
	err = o.each(ctx, docs, func(worker int, doc uint32, sets *reread.Sets) error {
		set, err := sets.Of(doc)
		if err != nil {
			return err
		}
		return to[worker].Add(uint64(doc), uint64(len(set)))
	})
	return o.Graph.Space.Ended(ctx, sorter, extsort.Flush(to, err))
}

// each makes all workers visit the sets of documents, block by block.
func (o *Options) each(ctx context.Context, docs bitset.Set[uint32], visit func(worker int, doc uint32, sets *reread.Sets) error) error {
	blocks := o.Records.Table.Blocks
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	for worker := range o.Graph.Space.Threads {
		workers.Go(func() error {
			sets := o.Records.NewSets(ctx)
			defer sets.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(blocks) {
					return nil
				}
				b := &blocks[i]
				for doc := b.FirstDoc; doc < b.FirstDoc+b.Docs; doc++ {
					if !docs.Has(doc) {
						continue
					}
					if err := visit(worker, doc, sets); err != nil {
						return err
					}
				}
			}
			return ctx.Err()
		})
	}
	return workers.Wait()
}

// filter has the keys of all samples. The keys of a sample are the smallest hashes, so nearly all of them are close
// together, and one bit for many keys tells that most of the other hashes are not among them: looking at the features
// of a gigabyte takes two thirds of the time.
type filter struct {
	coarse []uint64 // a bit for each value of the top bits
	shift  uint     // of a key to its bit
	fine   *bloom.Filter
}

// coarseMost is how many bits coarse has at most; they lie in the second-level cache.
const coarseMost = 1 << 22

func newFilter(keys int) *filter {
	width := min(max(bits.Len(uint(4*keys)), 6), bits.Len(coarseMost)-1)
	return &filter{make([]uint64, 1<<width/64), uint(64 - width), bloom.New(keys)}
}

func (f *filter) add(key uint64) {
	bit := key >> f.shift
	atomic.OrUint64(&f.coarse[bit/64], 1<<(bit%64))
	f.fine.AddShared(key)
}

func (f *filter) hasAll(keys []uint64, has []bool) {
	coarse, shift := f.coarse, f.shift&63
	for i, key := range keys {
		bit := key >> shift
		has[i] = coarse[bit/64]>>(bit%64)&1 != 0 && f.fine.Has(key)
	}
}

// filter returns the keys of all samples.
func (o *Options) filter(ctx context.Context) (*filter, error) {
	f := newFilter(o.Docs.Len() * o.Sample.Size)
	return f, o.eachSampled(ctx, f.add)
}

// eachSampled calls visit for every key of a sample, from all workers.
func (o *Options) eachSampled(ctx context.Context, visit func(key uint64)) error {
	return o.Records.Table.EachSegment(ctx, o.Graph.Space.Threads, func(_ int, s *doctable.Scan) error {
		for i := range o.Sample.Size {
			err := s.EachKey(i, 0, uint32(o.Records.Table.Docs), func(doc uint32, key uint64) error {
				if key != recipe.NoKey && o.Docs.Has(doc) && o.inside(doc) {
					visit(key)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
