package verify

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// Where documents are in many pairs, as at low thresholds, units read them again and again, mostly for pairs that have
// little in common. Then an outline of each document is made once, and rules out nearly all of those before anything is
// read. Of a small corpus the sets are made as well: if they take no more than madeMost bytes, and an eighth of the memory
// for data has room for them. Of 5,205 articles with 250,000 pairs by 5 characters, whose sets take 60 MiB, that is 3.5
// seconds of a processor in place of 14.8. Of 60,001 articles with 975,539 pairs by 8 characters, of which 103,034 are
// similar, outlines leave 119,825; all takes less than half of the time. Forecasts count on forecastMost, so that what they
// choose does not depend on this limit.
const (
	madeMost     = 128 << 20
	forecastMost = 48 << 20
	madeHeader   = 24 // of each document
)

// SetsFit tells whether the sets of so many documents may be made once when documents are in many pairs: this
// still requires that the memory for data has room for them.
func SetsFit(docs, features int64) bool { return sizeOfSets(docs, features) <= forecastMost }

func sizeOfSets(docs, features int64) int64 { return 8*features + madeHeader*docs }

// outlines are bitmaps of documents: a feature stands for one of their bits. Each bit that one document has and another
// one lacks stands for a feature that only the first one has, so the two have no more in common than the first one has
// features without these. Looking takes a twentieth of the time of making and comparing two sets.
type outlines struct {
	words int
	bits  []uint64   // of one document after the other
	sizes []outlined // of documents
	sets  [][]uint64 // nil: they have no room
}

// outlined are numbers of a document: how large its set is at most and at least, and how many bits its outline has.
type outlined struct{ most, least, ones uint32 }

// Outlines have outlineBits for each feature of a document of mean length, fewer if an eighth of the memory for data has no
// room for them, but at least outlineFew: with 10 bits 206,428 of the pairs above are left.
const (
	outlineBits  = 16
	outlineFew   = 8
	outlineLeast = 64
	outlineMost  = 1 << 16
	severalVotes = 2
)

// newOutlines returns outlines of the documents of the table, without bits; nil if they have no room.
func (v *Options) newOutlines() *outlines {
	t, room := v.Records.Table, v.Graph.Space.Share(8)
	if room == 0 {
		room = math.MaxInt64
	}
	docs := int64(max(t.Docs, 1))
	words := func(each int64) int64 { return (min(max(each*t.Features/docs, outlineLeast), outlineMost) + 63) / 64 }
	o := &outlines{words: int(min(words(outlineBits), room/8/docs))}
	if int64(o.words) < words(outlineFew) {
		return nil
	}
	o.bits, o.sizes = make([]uint64, int(docs)*o.words), make([]outlined, docs)
	if sizeOfSets(docs, t.Features) <= min(madeMost, room) {
		o.sets = make([][]uint64, docs)
	}
	return o
}

func (o *outlines) of(doc uint32) []uint64 { return o.bits[int(doc)*o.words:][:o.words] }

// add outlines a document. Its features may be repeated unless it is a set.
func (o *outlines) add(doc uint32, features []uint64) {
	outline, n := o.of(doc), uint64(64*o.words)
	for _, v := range features {
		bit, _ := bits.Mul64(hashing.Mix(v), n)
		outline[bit/64] |= 1 << (bit % 64)
	}
	ones := 0
	for _, word := range outline {
		ones += bits.OnesCount64(word)
	}
	o.sizes[doc] = outlined{uint32(len(features)), uint32(ones), uint32(ones)}
	if o.sets != nil {
		o.sizes[doc].least = uint32(len(features))
		o.sets[doc] = slices.Clone(features)
	}
}

// mayReach tells whether the sets of two documents may reach a threshold.
func (o *outlines) mayReach(t measure.Threshold, p graph.Pair) bool {
	x, y, both := o.of(p.A), o.of(p.B), uint32(0)
	for i, word := range y[:len(x)] {
		both += uint32(bits.OnesCount64(word & x[i]))
	}
	a, b := o.sizes[p.A], o.sizes[p.B]
	return t.Reached(uint64(min(a.most-a.ones, b.most-b.ones)+both), uint64(a.least), uint64(b.least))
}

// madeChunk is how many documents a worker takes at once.
const madeChunk = 64

// outline makes the outlines of all documents in pairs, if documents are in two pairs each, on average, and they have room.
// It makes none where sets have no room and one key in common makes a pair: then most pairs are similar, and with outlines 150,000
// documents in groups of ten took 1.4 times as long.
func (v *Options) outline(ctx context.Context, what *Query) (*outlines, error) {
	if what.Rate || what.Pairs.Len() < int64(v.Records.Table.Docs) {
		return nil, nil
	}
	all := v.newOutlines()
	if all == nil || all.sets == nil && what.Votes < severalVotes {
		return nil, nil
	}
	wanted, err := graph.Docs(what.Pairs, v.Records.Table.Docs)
	if err == nil {
		err = v.Records.PrepareSets(ctx, wanted)
	}
	if err != nil {
		return nil, err
	}
	var next atomic.Int64
	workers, ctx := errgroup.WithContext(ctx)
	for range v.Graph.Space.Threads {
		workers.Go(func() error {
			sets := v.Records.NewSets(ctx)
			defer sets.Close()
			make := sets.Features
			if all.sets != nil {
				make = sets.Of
			}
			for ctx.Err() == nil {
				first := int(next.Add(madeChunk)) - madeChunk
				if first >= len(all.sizes) {
					return nil
				}
				for doc := first; doc < min(first+madeChunk, len(all.sizes)); doc++ {
					if !wanted.Has(uint32(doc)) {
						continue
					}
					features, err := make(uint32(doc))
					if err != nil {
						return err
					}
					all.add(uint32(doc), features)
				}
			}
			return ctx.Err()
		})
	}
	return all, workers.Wait()
}

// possible returns the pairs that outlines do not rule out, and how many of all have enough votes.
func (v *Options) possible(ctx context.Context, what *Query, all *outlines) (left *extsort.Sorted, compared int64, err error) {
	sorter, err := extsort.New(v.Graph.Sorting("possible", 8))
	if err != nil {
		return nil, 0, err
	}
	to, threshold := sorter.Appenders(v.Graph.Space.Threads), v.Edges.Threshold.Undirected()
	var counted atomic.Int64
	err = what.Pairs.Each(ctx, len(to), func(worker int, part []extsort.Entry, _ bool) error {
		n := 0
		for _, e := range part {
			p := graph.PairOf(e.Key)
			if !what.wants(p, e.Value) {
				continue
			}
			n++
			if !all.mayReach(threshold, p) {
				continue
			}
			if err := to[worker].Add(e.Key, e.Value); err != nil {
				return err
			}
		}
		counted.Add(int64(n))
		return nil
	})
	left, err = v.Graph.Space.Ended(ctx, sorter, extsort.Flush(to, err))
	return left, counted.Load(), err
}
