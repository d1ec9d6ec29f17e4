package hot

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/sides"
)

// Joined are the edges among the documents of hot buckets, those over the cap, in addition to the
// pairs that the buckets vote for.
type Joined struct {
	Docs   bitset.Set[uint32] // documents all of whose similar pairs are among Edges; nil: none
	Edges  *extsort.Sorted    // of them; the caller releases it
	Missed int64              // documents for which pairs may be missing
}

// Options say which buckets are hot, and how their documents are joined.
type Options struct {
	Graph graph.Graph
	Sides *sides.Policy
	Cap   int // members from which on a bucket is hot
	Log   *resume.Log
	// Join says how documents are joined, and Forecast how the cost of that is estimated.
	Join     exact.Options
	Forecast forecast.Options
	// Budget is the most that comparing signatures may cost, in nanoseconds; 0: forecast.HotBudget
	// of the number of documents.
	Budget float64
}

// Levels returns the documents of hot buckets: Key is the document, Value the level of its smallest
// hot bucket.
func Levels(ctx context.Context, o Options, members *extsort.Sorted) (*extsort.Sorted, error) {
	all, err := o.Graph.Space.Sorted(ctx, o.Graph.Space.Sorting("memberships", 8, graph.Bits(o.Graph.Docs)), func(to *extsort.Appender) error {
		return o.eachMember(members, func(e extsort.Entry, n int64) error {
			return to.Add(uint64(uint32(e.Value)), uint64(forecast.HotLevel(n, o.Cap)))
		})
	})
	if err != nil {
		return nil, err
	}
	levels, err := o.Graph.Space.Sorted(ctx, o.Graph.Space.Sorting("levels", 8, graph.Bits(o.Graph.Docs)), func(to *extsort.Appender) error {
		last := extsort.Entry{Key: noDoc}
		return all.Visit(func(e extsort.Entry) error {
			if e.Key == last.Key { // a larger bucket, or one as large
				return nil
			}
			last = e
			return to.Add(e.Key, e.Value)
		})
	})
	return levels, errors.Join(err, o.Graph.Space.Release(all))
}

// eachMember visits the members of the buckets in which any may be compared, with the size of the bucket.
func (o *Options) eachMember(members *extsort.Sorted, visit func(e extsort.Entry, n int64) error) error {
	behind := members.Reader()
	err := eachBucket(members, o.Sides, func(b *bucketSize) error {
		for range b.n {
			e, _ := behind.Next()
			if !b.meet() {
				continue
			}
			if err := visit(e, b.n); err != nil {
				return err
			}
		}
		return behind.Err()
	})
	return errors.Join(err, behind.Close())
}

// LostKeys returns, by how many of a document's own keys are hot, how many documents have so many, of those for which
// pairs may be missing: all in hot buckets but those joined; nil: no joined ones.
func LostKeys(ctx context.Context, o Options, members *extsort.Sorted, joined bitset.Set[uint32]) (documents []int64, err error) {
	own, err := o.Graph.Space.Sorted(ctx, o.Graph.ByDoc("lost", 8), func(to *extsort.Appender) error {
		return o.eachMember(members, func(e extsort.Entry, _ int64) error {
			if doc := uint32(e.Value); e.Value&graph.NotSampled == 0 && (joined == nil || !joined.Has(doc)) {
				return to.Add(uint64(doc), 0)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	last, n := uint64(noDoc), 0
	count := func() {
		for len(documents) <= n {
			documents = append(documents, 0)
		}
		documents[n]++
	}
	err = own.Visit(func(e extsort.Entry) error {
		if e.Key != last && n > 0 {
			count()
			n = 0
		}
		last = e.Key
		n++
		return nil
	})
	if n > 0 {
		count()
	}
	return documents, errors.Join(err, o.Graph.Space.Release(own))
}

// noDoc is larger than the number of any document.
const noDoc = 1 << 32

// bucketSize counts the classes in a bucket.
type bucketSize struct {
	n                 int64
	left, right, both int64
	present           sides.Present
}

func (b *bucketSize) add(policy *sides.Policy, rep uint32) {
	b.n++
	b.present.Add(policy, rep)
	left, right := policy.Across(rep)
	if left {
		b.left++
	}
	if right {
		b.right++
	}
	if left && right {
		b.both++
	}
}

// meet tells whether any of its classes may be compared; pairs returns how many pairs of them may.
func (b *bucketSize) meet() bool { return b.present.Meet() }
func (b *bucketSize) pairs() float64 {
	return sides.Pairs(float64(b.left), float64(b.right), float64(b.both))
}

// eachBucket visits buckets, given by their members.
func eachBucket(members *extsort.Sorted, policy *sides.Policy, visit func(b *bucketSize) error) error {
	key := uint64(0)
	var b bucketSize
	err := members.Visit(func(e extsort.Entry) error {
		if b.n > 0 && e.Key != key {
			if err := visit(&b); err != nil {
				return err
			}
			b = bucketSize{}
		}
		key = e.Key
		b.add(policy, uint32(e.Value))
		return nil
	})
	if err == nil && b.n > 0 {
		err = visit(&b)
	}
	return err
}

// docsBelow visits the documents of levels below end, and counts the others.
func docsBelow(levels *extsort.Sorted, end uint64, visit func(doc uint32)) (others int64, err error) {
	err = levels.Visit(func(e extsort.Entry) error {
		if e.Value >= end {
			others++
		} else {
			visit(uint32(e.Key))
		}
		return nil
	})
	return others, err
}

// Join joins the documents that lie in hot buckets with each other: all of them or, if a forecast
// says that this would take too long, those of the smaller ones.
//
// A join uses rare features, so documents that share hot buckets without being similar cost little.
// Documents that really are similar cost as much as their pairs.
func Join(ctx context.Context, o Options, levels *extsort.Sorted) (h Joined, err error) {
	found, end, err := o.Log.Step(ctx, "hot-edges", func() ([]*extsort.Sorted, int64, error) {
		edges, end, err := o.joinLevels(ctx, levels)
		return []*extsort.Sorted{edges}, int64(end), err
	}, o.Graph.Sorting("edges", 8))
	if err != nil {
		return h, err
	}
	h.Edges = found[0]
	if end > 0 {
		h.Docs = bitset.New[uint32](o.Graph.Docs)
	}
	if h.Missed, err = docsBelow(levels, uint64(end), func(doc uint32) { h.Docs.Add(doc) }); err != nil {
		return Joined{}, errors.Join(err, o.Graph.Space.Release(h.Edges))
	}
	return h, nil
}

// joinLevels joins the documents of all levels below end.
func (o *Options) joinLevels(ctx context.Context, levels *extsort.Sorted) (edges *extsort.Sorted, end int, err error) {
	features, err := o.levelFeatures(levels)
	if err != nil {
		return nil, 0, err
	}
	var docs bitset.Set[uint32] // those of the last estimate
	judge := func(end int) (forecast.Forecast, error) {
		docs = bitset.New[uint32](o.Graph.Docs)
		if _, err := docsBelow(levels, uint64(end), docs.Add); err != nil {
			return forecast.Forecast{}, err
		}
		return forecast.Of(o.Forecast, o.Join.Records.Judged(ctx, docs))
	}
	join := func(end int, limit int64) (_ bool, err error) {
		edges, err = exact.Join(ctx, o.Join, exact.Query{Docs: docs, Kind: fmt.Sprintf("hot-joined-%d", end), Limit: limit})
		if errors.Is(err, exact.ErrManyEdges) {
			return false, nil
		}
		return true, err
	}
	if end, err = forecast.JoinHot(&features, o.Graph.Docs, judge, join); err != nil || end > 0 {
		return edges, end, err
	}
	none, err := o.Graph.Space.Sorted(ctx, o.Graph.Space.Sorting("edges", 8, graph.PairBits(o.Graph.Docs)), func(*extsort.Appender) error { return nil })
	return none, 0, err
}

// levelFeatures returns how many features the documents of each level have.
func (o *Options) levelFeatures(levels *extsort.Sorted) (features [forecast.HotLevels]sides.Features, err error) {
	docs := o.Join.Records.Table.Scanner()
	err = levels.Visit(func(e extsort.Entry) error {
		doc := uint32(e.Key)
		features[e.Value].Add(o.Sides, doc, int64(docs.Doc(doc).Features))
		return docs.Err
	})
	return features, err
}
