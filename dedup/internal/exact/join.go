package exact

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// groupsAtOnce is how many groups of equal sets a worker takes at once.
const groupsAtOnce = 64

// indexMost is how many features the index of a chunk can number.
const indexMost = 1<<31 - 2

// chunk is a run of representatives' feature sets in memory.
type chunk struct {
	docs  []uint32
	sets  [][]uint64
	index *simjoin.Index
	whole *simjoin.SearchIndex // index is a part of it; nil: no documents follow the chunk
	next  uint32               // first document behind it
}

// Query says which documents to join.
type Query struct {
	Docs  bitset.Set[uint32] // representatives
	Kind  string             // of the notes on progress
	Limit int64              // of edges; 0: any number
}

// Options say how sets are joined.
type Options struct {
	Graph     graph.Graph
	Records   *reread.Store // of the documents, whose sets are compared
	Edges     graph.Edges   // which edges pairs make
	IndexMost int           // features that the index of a chunk can number; 0: indexMost
	Log       *resume.Log   // nil: nothing is noted
	Progress  meter.Progress
	Meter     *meter.Meter // nil: nothing is measured
}

// joiner finds all pairs of documents at or above the threshold with a prefix-filter index over the
// feature sets. If not all sets fit in memory they are joined by chunks: each with itself, and with
// all later sets. That reads the sets once for each chunk; the pairs are the same.
//
// With two collections the smaller one is indexed, also by chunks, and every set of the other one
// is searched in each chunk.
type joiner struct {
	Query
	Options
	index side // with two collections, the one that is indexed; the sets of the other one are searched
	edges *extsort.Sorter
	to    []*extsort.Appender
	count atomic.Int64 // edges so far
}

// ErrManyEdges says that a join has exceeded its limit. Whether it does depends only on the corpus.
var ErrManyEdges = errors.New("more similar pairs than an exact join is good for")

// joined is a note on the progress of a join.
type joined struct {
	resume.Stored        // edges
	Next          uint32 // first document of the next chunk
}

// Join returns the edges among documents. The error is ErrManyEdges if there are more than the
// limit. The caller releases them.
func Join(ctx context.Context, o Options, what Query) (*extsort.Sorted, error) {
	sorting := o.Graph.Sorting("edges", 8)
	var before joined
	if found, err := o.Log.Last(what.Kind, &before); err != nil {
		return nil, err
	} else if found {
		sorting.Runs = before.Runs[0]
	}
	if err := o.Records.PrepareSets(ctx, what.Docs); err != nil {
		return nil, err
	}
	if o.IndexMost == 0 {
		o.IndexMost = indexMost
	}
	j := &joiner{Query: what, Options: o}
	var err error
	if j.index, err = smallerSide(o.Records.Table, o.Edges.Sides, what.Docs); err != nil {
		return nil, err
	}
	if j.edges, err = extsort.New(sorting); err != nil {
		return nil, err
	}
	j.to = j.edges.Appenders(o.Graph.Space.Threads)
	j.count.Store(before.Count)
	return o.Graph.Space.Ended(ctx, j.edges, j.join(ctx, before.Next))
}

func (j *joiner) join(ctx context.Context, next uint32) error {
	for int(next) < j.Records.Table.Docs {
		c, err := j.load(ctx, next)
		if err != nil {
			return err
		}
		switch {
		case j.Edges.Sides.Apart():
			err = j.searchAll(ctx, c, 0)
		default:
			if err = j.within(ctx, c); err == nil && c.whole != nil {
				err = j.searchAll(ctx, c, c.next)
			}
		}
		if err := extsort.Flush(j.to, err); err != nil {
			return err
		}
		next = c.next
		if !j.Log.Due() {
			continue
		}
		runs, err := j.edges.Save(ctx)
		if err != nil {
			return err
		}
		if err := j.Log.Note(j.Kind, joined{resume.Stored{Runs: [][]extsort.Run{runs}, Count: j.count.Load()}, next}); err != nil {
			return err
		}
	}
	return nil
}

// load reads as many sets as may be in memory, from a document on, and indexes them.
func (j *joiner) load(ctx context.Context, next uint32) (*chunk, error) {
	limit := j.Graph.Space.Share(2)
	c := &chunk{}
	sets := j.Records.NewSets(ctx)
	defer sets.Close()
	features := 0
	for ; int(next) < j.Records.Table.Docs; next++ {
		if !j.Docs.Has(next) || !j.index.has(j.Edges.Sides, next) {
			continue
		}
		set, err := sets.Of(next)
		if err != nil {
			return nil, err
		}
		if len(c.docs) > 0 && features+len(set) > j.IndexMost {
			break
		}
		if limit > 0 && len(c.docs) > 0 && simjoin.SearchIndexBytes(len(c.docs)+1, features+len(set))+8*int64(features) > limit {
			break
		}
		if !sets.Lasting() {
			set = slices.Clone(set)
		}
		features += len(set)
		c.docs, c.sets = append(c.docs, next), append(c.sets, set)
	}
	c.next = next
	if int(next) == j.Records.Table.Docs && !j.Edges.Sides.Apart() {
		c.index = simjoin.NewIndex(c.sets, j.Edges.Threshold)
	} else {
		c.whole = simjoin.NewSearchIndex(c.sets, j.Edges.Threshold)
		c.index = &c.whole.Index
	}
	c.sets = nil
	return c, nil
}

// within joins a chunk with itself: first equal sets, then those of different groups.
func (j *joiner) within(ctx context.Context, c *chunk) error {
	x := c.index
	add := func(to *extsort.Appender) func(m measure.Match) error {
		return func(m measure.Match) error {
			m.A, m.B = uint64(c.docs[m.A]), uint64(c.docs[m.B])
			return j.add(to, m)
		}
	}
	err := j.parallel(ctx, x.Len(), groupsAtOnce, func(to *extsort.Appender, _ *simjoin.Prober, g int) error {
		return engine.EachOfEqual(x, g, add(to)) // sets may be equal although their features are repeated differently
	})
	if err != nil {
		return err
	}
	pieces := x.Pieces()
	return j.parallel(ctx, pieces, 1, func(to *extsort.Appender, p *simjoin.Prober, piece int) error {
		if err := engine.EachOfPiece(x, p, piece, add(to)); err != nil {
			return err
		}
		j.Progress.Advance(int64(x.Len()*(piece+1)/pieces-x.Len()*piece/pieces), 0)
		return nil
	})
}

// searchAll joins a chunk with all sets from a document on.
func (j *joiner) searchAll(ctx context.Context, c *chunk, from uint32) error {
	t := j.Records.Table
	if len(c.docs) == 0 {
		return nil
	}
	var next atomic.Int64
	next.Store(int64(t.BlockOf(from)))
	group, ctx := errgroup.WithContext(ctx)
	for worker := range j.Graph.Space.Threads {
		group.Go(func() error {
			defer j.Meter.Since("edges", worker, j.Meter.Now())
			var p simjoin.Prober
			sets := j.Records.NewSets(ctx)
			defer sets.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.Blocks) {
					return nil
				}
				if err := j.search(c, from, &t.Blocks[i], sets, &p, j.to[worker]); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (j *joiner) search(c *chunk, from uint32, b *doctable.Block, sets *reread.Sets, p *simjoin.Prober, to *extsort.Appender) error {
	other := j.index.other()
	for doc := max(b.FirstDoc, from); doc < b.FirstDoc+b.Docs; doc++ {
		if !j.Docs.Has(doc) || !other.has(j.Edges.Sides, doc) {
			continue
		}
		set, err := sets.Of(doc)
		if err != nil {
			return err
		}
		for _, m := range c.whole.Search(p, set) {
			for _, y := range c.index.Members(m.Group) {
				if j.metBefore(doc, c.docs[y]) {
					continue
				}
				match := measure.Match{A: uint64(doc), B: uint64(c.docs[y]), Intersection: uint64(m.Intersection), SizeA: uint64(len(set)), SizeB: uint64(m.Size)}
				if err := j.add(to, match); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// parallel calls visit for 0 … n−1 from all workers, each of which takes a few at once.
func (j *joiner) parallel(ctx context.Context, n, few int, visit func(to *extsort.Appender, p *simjoin.Prober, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range j.Graph.Space.Threads {
		group.Go(func() error {
			defer j.Meter.Since("edges", worker, j.Meter.Now())
			var p simjoin.Prober
			for ctx.Err() == nil {
				start := int(next.Add(int64(few))) - few
				if start >= n {
					return nil
				}
				for i := start; i < min(start+few, n); i++ {
					if err := visit(j.to[worker], &p, i); err != nil {
						return err
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// add adds the edges between two documents if these may meet.
func (j *joiner) add(to *extsort.Appender, m measure.Match) error {
	if !j.Edges.Sides.Meet(uint32(m.A), uint32(m.B)) {
		return nil
	}
	if n := j.count.Add(1); j.Limit > 0 && n > j.Limit {
		return ErrManyEdges
	}
	if m.A > m.B {
		m = engine.Turned(m)
	}
	return j.Edges.Add(to, m)
}

// side is one of two collections; if there is only one, all documents are on oneSide.
type side int

const (
	oneSide side = iota
	leftSide
	rightSide
)

func (s side) has(policy *sides.Policy, rep uint32) bool {
	switch s {
	case leftSide:
		return policy.Left(rep)
	case rightSide:
		return policy.Right(rep)
	}
	return true
}

func (s side) other() side {
	switch s {
	case leftSide:
		return rightSide
	case rightSide:
		return leftSide
	}
	return oneSide
}

// smallerSide returns the side on which the given representatives have fewer features.
func smallerSide(t *doctable.Table, policy *sides.Policy, docs bitset.Set[uint32]) (side, error) {
	if !policy.Apart() {
		return oneSide, nil
	}
	var sum sides.Features
	c := t.Scanner()
	for doc := range uint32(t.Docs) {
		if docs.Has(doc) {
			sum.Add(policy, doc, int64(c.Doc(doc).Features))
		}
	}
	if sum.Left < sum.Right {
		return leftSide, c.Err
	}
	return rightSide, c.Err
}

// metBefore tells whether a pair is found a second time: two classes that are on both sides are
// both indexed and searched. A class is not compared with itself here.
func (j *joiner) metBefore(searched, indexed uint32) bool {
	return j.index != oneSide && searched <= indexed && j.Edges.Sides.Both(searched) && j.Edges.Sides.Both(indexed)
}
