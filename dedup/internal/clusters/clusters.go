package clusters

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/sorting"
)

// Options say how similar documents are clustered.
type Options struct {
	Graph  graph.Graph
	Table  *doctable.Table
	Sides  *sides.Policy
	Keep   cluster.Keep
	All    bool                      // nothing is removed
	Star   bool                      // a document is removed only in favour of one that is similar to it
	Whole  bool                      // stars are made with the longest text first, unless Parts
	Sized  bool                      // Result.Sizes is wanted
	Parts  bool                      // stars are made with the largest set first: edges are by containment
	Sizes  *extsort.Sorted           // of the sets of representatives, for Parts; nil: the table has the sets
	Verify verify.Options            // for similarities that no edge gives
	Rate   func(a, b uint32) float64 // for these similarities, instead of Verify; nil: none
}

// Result is the clusters and the documents kept and removed. All entries have documents as keys.
type Result struct {
	Labels       *extsort.Sorted // members of clusters of two or more; Value: the smallest document of the cluster
	Removed      *extsort.Sorted // Value: the document kept instead
	Similarities *extsort.Sorted // of removed documents that are no copies of the kept one; Value: bits of a float
	Sizes        *extsort.Sorted // with Options.Sized, of the documents in Labels; Value: the members of the cluster
	Clusters     int64
	Largest      []Cluster // largest first, at most LargestMax
	BySize       [32]int64 // clusters of 2ⁱ to 2ⁱ⁺¹−1 members
	space        *scratch.Space
}

type Cluster struct {
	First uint32 // smallest document
	Size  int    // members
}

// Release frees the entries.
func (c *Result) Release() error {
	return c.space.ReleaseAll(c.Labels, c.Removed, c.Similarities, c.Sizes)
}

// LargestMax is how many clusters are listed.
const LargestMax = 10

// Find groups the documents: edges connect representatives, and a representative stands for its
// class, whose members are given as in copies.Classes and within which every similarity is 1. The
// caller releases the result.
func Find(ctx context.Context, o Options, classes, edges *extsort.Sorted) (*Result, error) {
	f := &finder{o, classes, edges}
	members, err := f.groups(ctx)
	if err != nil {
		return nil, err
	}
	c := &Result{space: o.Graph.Space}
	queries, err := f.decide(ctx, c, members)
	err = errors.Join(err, c.space.Release(members))
	if err == nil {
		c.Similarities, err = f.similarities(ctx, queries)
		err = errors.Join(err, c.space.Release(queries))
	}
	if err != nil {
		return nil, errors.Join(err, c.Release())
	}
	return c, nil
}

type finder struct {
	Options
	classes *extsort.Sorted
	edges   *extsort.Sorted
}

// groups returns the members of all groups; one document of each group is kept. Key is
// group<<32|document, Value the document's representative. A group is named by a representative: of
// a component its smallest document, of a star its centre. Every reference's class is a group of its own, since every
// reference is kept; the other documents of a component that holds references are removed in favour
// of the first of them.
func (f *finder) groups(ctx context.Context) (*extsort.Sorted, error) {
	var of *extsort.Sorted // group of each representative with an edge
	var err error
	if f.Star {
		of, err = f.stars(ctx)
	} else {
		of, err = f.Graph.Components(ctx, f.edges)
	}
	if err != nil {
		return nil, err
	}
	groups, err := f.Graph.Space.Sorted(ctx, f.Graph.Sorting("groups", 8), func(to *extsort.Appender) error {
		reps := of.Reader()
		// Both streams ascend by representative.
		alone := func(before uint64) error {
			for e, ok := reps.Peek(); ok && e.Key < before; e, ok = reps.Peek() {
				reps.Next()
				group := engine.GroupOf(e.Key, e.Value, f.Sides.Reference(uint32(e.Key)))
				if err := to.Add(group<<32|e.Key, e.Key); err != nil {
					return err
				}
			}
			return nil
		}
		last, group := uint64(math.MaxUint64), uint64(0)
		err := f.classes.Visit(func(e extsort.Entry) error {
			if e.Key != last {
				last, group = e.Key, e.Key
				if err := alone(e.Key); err != nil {
					return err
				}
				if l, ok := reps.Peek(); ok && l.Key == e.Key {
					reps.Next()
					group = engine.GroupOf(e.Key, l.Value, f.Sides.Reference(uint32(e.Key)))
				}
			}
			return to.Add(group<<32|e.Value, e.Key)
		})
		if err == nil {
			err = alone(math.MaxUint64)
		}
		return errors.Join(err, reps.Err(), reps.Close())
	})
	return groups, errors.Join(err, f.Graph.Space.Release(of))
}

// decider goes through the groups with two readers: ahead finds out which document a group keeps,
// then behind records it for each member.
type decider struct {
	f             *finder
	c             *Result
	docs          *doctable.Cursor
	prefer        func(a, b uint32) bool
	ahead, behind *extsort.Reader

	labels, removed, queries *extsort.Appender
	sizes                    *extsort.Appender // nil: not wanted
}

// decide fills in c except the similarities. It returns queries for these: Key is a pair of
// representatives, Value the removed document.
func (f *finder) decide(ctx context.Context, c *Result, members *extsort.Sorted) (queries *extsort.Sorted, err error) {
	docs := f.Table.Cursor()
	d := &decider{f: f, c: c, docs: docs, prefer: f.Keep.Order(docs.Meta), ahead: members.Reader(), behind: members.Reader()}
	defer func() { err = errors.Join(err, d.ahead.Close(), d.behind.Close()) }()
	queries, err = f.Graph.Space.Sorted(ctx, f.Graph.Sorting("queries", 8), func(to *extsort.Appender) error {
		d.queries = to
		var err error
		c.Labels, err = f.Graph.Space.Sorted(ctx, f.Graph.ByDoc("labels", 8), func(to *extsort.Appender) error {
			d.labels = to
			var err error
			c.Removed, err = f.Graph.Space.Sorted(ctx, f.Graph.ByDoc("removed", 8), func(to *extsort.Appender) error {
				d.removed = to
				return d.runSized(ctx)
			})
			return err
		})
		return err
	})
	sorting.Func(c.Largest, largestFirst)
	return queries, err
}

// runSized is run, with the sizes of clusters where they are wanted.
func (d *decider) runSized(ctx context.Context) (err error) {
	if !d.f.Sized {
		return d.run(ctx)
	}
	d.c.Sizes, err = d.f.Graph.Space.Sorted(ctx, d.f.Graph.ByDoc("sizes", 8), func(to *extsort.Appender) error {
		d.sizes = to
		return d.run(ctx)
	})
	return err
}

func (d *decider) run(ctx context.Context) error {
	for n := 0; ; n++ {
		first, ok := d.ahead.Peek()
		if !ok {
			return errors.Join(d.ahead.Err(), d.docs.Err)
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := d.group(first.Key); err != nil {
			return err
		}
	}
}

// group decides about the group of the given key.
func (d *decider) group(first uint64) error {
	group := uint32(first >> 32)
	kept, keptRep, size := d.choose(group)
	label := uint64(uint32(first))
	for range size {
		e, _ := d.behind.Next()
		doc, rep := uint32(e.Key), uint32(e.Value)
		if size > 1 {
			if err := d.labels.Add(uint64(doc), label); err != nil {
				return err
			}
			if d.sizes != nil {
				if err := d.sizes.Add(uint64(doc), uint64(size)); err != nil {
					return err
				}
			}
		}
		if doc == kept || d.f.All || d.f.Sides.Reference(doc) {
			continue
		}
		if err := d.removed.Add(uint64(doc), uint64(kept)); err != nil {
			return err
		}
		if rep != keptRep {
			p := graph.Pair{A: min(rep, keptRep), B: max(rep, keptRep)}
			if err := d.queries.Add(p.Key(), uint64(doc)); err != nil {
				return err
			}
		}
	}
	if size > 1 {
		d.c.count(Cluster{First: uint32(first), Size: size})
	}
	return errors.Join(d.behind.Err(), d.docs.Err)
}

// choose returns the document that a group keeps, and counts its members.
func (d *decider) choose(group uint32) (kept, rep uint32, size int) {
	choice := engine.Choice{Star: d.f.Star, Group: uint64(group), Reference: d.f.Sides.Reference(group)}
	for e, ok := d.ahead.Peek(); ok && uint32(e.Key>>32) == group; e, ok = d.ahead.Peek() {
		d.ahead.Next()
		size++
		doc, of := uint32(e.Key), uint32(e.Value)
		if choice.Takes(uint64(of), func() bool { return d.prefer(doc, kept) }) {
			kept, rep = doc, of
		}
	}
	return kept, rep, size
}

// count counts a cluster. Of equally large ones the first are listed.
func (c *Result) count(found Cluster) {
	c.Clusters++
	c.BySize[bits.Len32(uint32(found.Size))-1]++
	if len(c.Largest) < LargestMax {
		c.Largest = append(c.Largest, found)
		return
	}
	last := 0 // index of the last one
	for i := range c.Largest {
		if largestFirst(c.Largest[i], c.Largest[last]) > 0 {
			last = i
		}
	}
	if largestFirst(found, c.Largest[last]) < 0 {
		c.Largest[last] = found
	}
}

func largestFirst(a, b Cluster) int {
	return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.First, b.First))
}

// similarities answers queries: from the edges or, where documents are connected only through
// others, by comparing them now.
func (f *finder) similarities(ctx context.Context, queries *extsort.Sorted) (*extsort.Sorted, error) {
	unknown := f.Graph.Sorting("unknown", 8)
	unknown.Sum = true
	missing, err := f.Graph.Space.Sorted(ctx, unknown, func(to *extsort.Appender) error {
		known := extsort.NewLookup(f.edges)
		err := queries.Visit(func(e extsort.Entry) error {
			if _, ok := known.Find(e.Key); ok {
				return nil
			}
			return to.Add(e.Key, 1)
		})
		return errors.Join(err, known.Err(), known.Close())
	})
	if err != nil {
		return nil, err
	}
	rated, err := f.rate(ctx, missing)
	if err = errors.Join(err, f.Graph.Space.Release(missing)); err != nil {
		return nil, err
	}
	answers, err := f.Graph.Space.Sorted(ctx, f.Graph.ByDoc("similarities", 8), func(to *extsort.Appender) error {
		known, now := extsort.NewLookup(f.edges), extsort.NewLookup(rated)
		err := queries.Visit(func(e extsort.Entry) error {
			similarity, ok := known.Find(e.Key)
			if !ok {
				similarity, _ = now.Find(e.Key)
			}
			return to.Add(e.Value, similarity)
		})
		return errors.Join(err, known.Err(), now.Err(), known.Close(), now.Close())
	})
	return answers, errors.Join(err, f.Graph.Space.Release(rated))
}

// rate returns the similarities of pairs, as edges.
func (f *finder) rate(ctx context.Context, pairs *extsort.Sorted) (*extsort.Sorted, error) {
	if f.Rate == nil {
		rated, _, err := verify.Pairs(ctx, f.Verify, verify.Query{Pairs: pairs, Rate: true})
		return rated, err
	}
	return f.Graph.Space.Sorted(ctx, f.Graph.Sorting("edges", 8), func(to *extsort.Appender) error {
		return pairs.Visit(func(e extsort.Entry) error {
			p := graph.PairOf(e.Key)
			return to.Add(e.Key, math.Float64bits(f.Rate(p.A, p.B)))
		})
	})
}
