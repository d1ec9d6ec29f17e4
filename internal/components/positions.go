package components

import (
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/internal/extsort"
)

// Positions is Components for vertices that are arbitrary 64-bit numbers, such as documents
// numbered over all machines of a cluster. In the result Key is a vertex that has an edge, and
// Value the smallest vertex of its component, ascending by vertex.
//
// edges has a as Key and b as Value, for an edge between vertices a < b; repeated edges do no harm.
// At most 2³² vertices may have edges. Options are as for Components.
//
// Vertices are replaced by their ranks among those that have edges, which keeps their order, and
// Components labels the ranks. This costs five more sorts.
func Positions(ctx context.Context, edges *extsort.Sorted, o extsort.Options) (*extsort.Sorted, error) {
	p := &ranker{solver{ctx: ctx, o: o}}
	labels, err := p.label(edges)
	if err != nil {
		return nil, fmt.Errorf("connected components: %w", err)
	}
	return labels, nil
}

type ranker struct{ solver }

func (p *ranker) label(edges *extsort.Sorted) (labels *extsort.Sorted, err error) {
	vertices, err := p.vertices(edges)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, vertices.Close()) }()
	ranks, err := p.labelRanks(edges, vertices)
	if err != nil {
		return nil, err
	}
	// Sorted by the rank of the label; the value is the vertex.
	byLabel, err := p.sort(32, false, func(add adder) error {
		return p.join(ranks, vertices, func(e extsort.Entry, vertex uint64) error { return add(e.Value, vertex) })
	})
	if err = errors.Join(err, ranks.Close()); err != nil {
		return nil, err
	}
	labels, err = p.sort(64, false, func(add adder) error {
		return p.join(byLabel, vertices, func(e extsort.Entry, label uint64) error { return add(e.Value, label) })
	})
	return labels, errors.Join(err, byLabel.Close())
}

func (p *ranker) vertices(edges *extsort.Sorted) (*extsort.Sorted, error) {
	vertices, err := p.sort(64, true, func(add adder) error {
		return p.each(edges, func(e extsort.Entry) error {
			if e.Key >= e.Value {
				return fmt.Errorf("edge between %d and %d", e.Key, e.Value)
			}
			return errors.Join(add(e.Key, 0), add(e.Value, 0))
		})
	})
	if err == nil && vertices.Len() > 1<<32 {
		return nil, errors.Join(fmt.Errorf("%d vertices have edges, more than 2³²", vertices.Len()), vertices.Close())
	}
	return vertices, err
}

// labelRanks labels the components of the edges between ranks.
func (p *ranker) labelRanks(edges, vertices *extsort.Sorted) (*extsort.Sorted, error) {
	half, err := p.sort(64, false, func(add adder) error {
		return p.rank(edges, vertices, func(e extsort.Entry, rank uint64) error { return add(e.Value, rank) })
	})
	if err != nil {
		return nil, err
	}
	ranked, err := p.sort(64, true, func(add adder) error {
		return p.rank(half, vertices, func(e extsort.Entry, rank uint64) error { return add(e.Value<<32|rank, 0) })
	})
	if err = errors.Join(err, half.Close()); err != nil {
		return nil, err
	}
	o := p.options(0, false)
	if o.Memory > 0 {
		o.Memory = max(1, p.o.Memory/2)
	}
	labels, err := Components(p.ctx, ranked, int(vertices.Len()), o)
	return labels, errors.Join(err, ranked.Close())
}

// rank visits entries whose keys are vertices, each with the rank of its key.
func (p *ranker) rank(entries, vertices *extsort.Sorted, visit func(e extsort.Entry, rank uint64) error) error {
	known := vertices.Reader()
	rank := uint64(0)
	err := p.each(entries, func(e extsort.Entry) error {
		for v, ok := known.Peek(); ok && v.Key < e.Key; v, ok = known.Peek() {
			_, _ = known.Next()
			rank++
		}
		return errors.Join(known.Err(), visit(e, rank))
	})
	return errors.Join(err, known.Close())
}

// join visits entries whose keys are ranks, each with its vertex.
func (p *ranker) join(entries, vertices *extsort.Sorted, visit func(e extsort.Entry, vertex uint64) error) error {
	known := vertices.Reader()
	rank := uint64(0)
	err := p.each(entries, func(e extsort.Entry) error {
		for ; rank < e.Key; rank++ {
			_, _ = known.Next()
		}
		v, _ := known.Peek()
		return errors.Join(known.Err(), visit(e, v.Key))
	})
	return errors.Join(err, known.Close())
}
