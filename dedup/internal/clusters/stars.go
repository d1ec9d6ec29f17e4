package clusters

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/engine"
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

// bests returns the order in which representatives with an edge become centres: Key is
// label<<32|representative, Value the size of its set, if that counts, <<32|the member of its class
// that the keep rule prefers.
func (f *finder) bests(ctx context.Context, labels *extsort.Sorted) (*extsort.Sorted, error) {
	return f.Graph.Space.Sorted(ctx, f.Graph.Sorting("bests", 8), func(to *extsort.Appender) error {
		c := f.Table.Cursor()
		prefer := f.Keep.Order(c.Meta)
		members := f.classes.Reader()
		sizes := f.setSizes()
		err := labels.Visit(func(e extsort.Entry) error {
			best := uint32(e.Key)
			for m, ok := members.Peek(); ok && m.Key <= e.Key; m, ok = members.Peek() {
				members.Next()
				if m.Key == e.Key && !f.Sides.Reference(uint32(e.Key)) && prefer(uint32(m.Value), best) {
					best = uint32(m.Value)
				}
			}
			return errors.Join(c.Err, to.Add(e.Value<<32|e.Key, sizes.of(uint32(e.Key))<<32|uint64(best)))
		})
		return errors.Join(err, sizes.close(), members.Err(), members.Close())
	})
}

// setSizes returns the sizes of the sets of ascending documents, or of their texts: 0 where they do not count.
func (f *finder) setSizes() *setSizes {
	switch {
	case f.Parts && f.Sizes == nil:
		return &setSizes{table: f.Table.Cursor()}
	case f.Parts: // before Whole: the edges say how much of the smaller set is in the larger one
		known := extsort.NewLookup(f.Sizes)
		return &setSizes{known: &known}
	case f.Whole:
		return &setSizes{texts: f.Table.Cursor()}
	}
	return &setSizes{}
}

type setSizes struct {
	texts *doctable.Cursor // their bytes count in place of sets
	table *doctable.Cursor
	known *extsort.Lookup
}

func (s *setSizes) of(doc uint32) uint64 {
	switch {
	case s.texts != nil:
		return uint64(s.texts.Doc(doc).TextSize)
	case s.table != nil:
		return uint64(s.table.SetSize(doc))
	case s.known != nil:
		size, _ := s.known.Find(uint64(doc))
		return size
	}
	return 0
}

func (s *setSizes) close() error {
	switch {
	case s.texts != nil:
		return s.texts.Err
	case s.table != nil:
		return s.table.Err
	case s.known != nil:
		return errors.Join(s.known.Err(), s.known.Close())
	}
	return nil
}

// star clusters one component after the other.
type star struct {
	f      *finder
	to     *extsort.Appender
	c      *doctable.Cursor
	prefer func(a, b uint32) bool
	bests  *extsort.Reader
	edges  []cluster.Edge
	docs   []uint32
	best   []engine.Centre // of each of docs
}

// end adds the centres of the component in edges, and empties it.
func (s *star) end(label uint64) error {
	s.docs, s.best = s.docs[:0], s.best[:0]
	for e, ok := s.bests.Peek(); ok && e.Key>>32 == label; e, ok = s.bests.Peek() {
		s.bests.Next()
		s.docs, s.best = append(s.docs, uint32(e.Key)), append(s.best, engine.Centre{Size: e.Value >> 32, Best: uint32(e.Value)})
	}
	number := func(doc uint32) uint32 {
		i, _ := slices.BinarySearch(s.docs, doc)
		return uint32(i)
	}
	for i, e := range s.edges {
		s.edges[i] = cluster.Edge{A: number(e.A), B: number(e.B)}
	}
	refs, _ := slices.BinarySearch(s.docs, s.f.Sides.References())
	kept := engine.Stars(s.best, refs, s.edges, s.prefer)
	for i, centre := range kept {
		if err := s.to.Add(uint64(s.docs[i]), uint64(s.docs[centre])); err != nil {
			return err
		}
	}
	s.edges = s.edges[:0]
	return errors.Join(s.c.Err, s.bests.Err())
}
