package clusters

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/extsort"
)

// stars returns the centre of each representative with an edge. It holds the
// edges of one component in memory at a time.
func (f *finder) stars(ctx context.Context) (centres *extsort.Sorted, err error) {
	labels, err := f.Graph.Components(ctx, f.edges)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Graph.Space.Release(labels)) }()
	bests, err := f.bests(ctx, labels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Graph.Space.Release(bests)) }()
	byLabel, err := f.Graph.ByLabel(ctx, f.edges, labels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Graph.Space.Release(byLabel)) }()
	return f.Graph.Space.Sorted(ctx, f.Graph.ByDoc("centres", 8), func(to *extsort.Appender) error {
		c := f.Table.Cursor()
		s := &star{f: f, to: to, c: c, prefer: f.Keep.Order(c.Meta), bests: bests.Reader()}
		if f.Parts {
			s.prefer = largestFirst(c, s.prefer)
		}
		label := uint64(math.MaxUint64)
		err := byLabel.Visit(func(e extsort.Entry) error {
			if next := e.Key >> 32; next != label {
				if len(s.edges) > 0 {
					if err := errors.Join(s.end(label), ctx.Err()); err != nil {
						return err
					}
				}
				label = next
			}
			s.edges = append(s.edges, cluster.Edge{A: uint32(e.Key), B: uint32(e.Value)})
			return nil
		})
		if err == nil && len(s.edges) > 0 {
			err = s.end(label)
		}
		return errors.Join(err, s.bests.Close())
	})
}

// bests returns the member that the keep rule prefers of each class by which a
// representative with an edge is judged: Key is label<<32|representative.
func (f *finder) bests(ctx context.Context, labels *extsort.Sorted) (*extsort.Sorted, error) {
	return f.Graph.Space.Sorted(ctx, f.Graph.Sorting("bests", 8), func(to *extsort.Appender) error {
		c := f.Table.Cursor()
		prefer := f.Keep.Order(c.Meta)
		members := f.classes.Reader()
		err := labels.Visit(func(e extsort.Entry) error {
			best := uint32(e.Key)
			for m, ok := members.Peek(); ok && m.Key <= e.Key; m, ok = members.Peek() {
				members.Next()
				if m.Key == e.Key && !f.Sides.Reference(uint32(e.Key)) && prefer(uint32(m.Value), best) {
					best = uint32(m.Value)
				}
			}
			return errors.Join(c.Err, to.Add(e.Value<<32|e.Key, uint64(best)))
		})
		return errors.Join(err, members.Err(), members.Close())
	})
}

// star clusters one component after the other.
type star struct {
	f      *finder
	to     *extsort.Appender
	c      *table.Cursor
	prefer func(a, b uint32) bool
	bests  *extsort.Reader
	edges  []cluster.Edge
	docs   []uint32
	best   []uint32 // by which each of docs is judged
}

// end adds the centres of the component in edges, and empties it.
func (s *star) end(label uint64) error {
	s.docs, s.best = s.docs[:0], s.best[:0]
	for e, ok := s.bests.Peek(); ok && e.Key>>32 == label; e, ok = s.bests.Peek() {
		s.bests.Next()
		s.docs, s.best = append(s.docs, uint32(e.Key)), append(s.best, uint32(e.Value))
	}
	number := func(doc uint32) uint32 {
		i, _ := slices.BinarySearch(s.docs, doc)
		return uint32(i)
	}
	for i, e := range s.edges {
		s.edges[i] = cluster.Edge{A: number(e.A), B: number(e.B)}
	}
	refs, _ := slices.BinarySearch(s.docs, s.f.Sides.References())
	kept := cluster.Star(len(s.docs), refs, s.edges, func(a, b uint32) bool { return s.prefer(s.best[a], s.best[b]) })
	for i, centre := range kept {
		if err := s.to.Add(uint64(s.docs[i]), uint64(s.docs[centre])); err != nil {
			return err
		}
	}
	s.edges = s.edges[:0]
	return errors.Join(s.c.Err, s.bests.Err())
}

// largestFirst is the order in which stars by containment are made: documents with more
// features first, then by the keep rule. So no document is removed in favour of a part
// of it.
func largestFirst(c *table.Cursor, prefer func(a, b uint32) bool) func(a, b uint32) bool {
	return func(a, b uint32) bool {
		if x, y := c.SetSize(a), c.SetSize(b); x != y {
			return x > y
		}
		return prefer(a, b)
	}
}
