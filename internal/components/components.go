// Package components finds the connected components of a graph whose edges need not fit in memory:
// the clusters of near-duplicates in the batch engine.
//
// It returns the labels of cluster.Components as a sorted sequence instead of an array. Use package
// cluster where an array of all vertices is in memory anyway.
//
// If 4⅛ bytes a vertex fit in three quarters of the memory, a union-find structure takes the edges
// in one pass. Otherwise the graph is contracted round by round until the remaining vertices fit in
// half of the memory, at 8 bytes each. In each round every vertex is merged with the smallest of
// its neighbours and itself, in a random order that changes with the round. In a fixed order a long
// chain would lose one vertex a round; with random orders any graph is expected to lose at least a
// quarter of its vertices (chains and stars lose half). A round costs about three sorts of the
// remaining edges. Joins then carry the labels back through the rounds. The algorithm is that of H.
// Bögeholz, M. Brand, R.-A. Todor, "In-database connected component analysis" (ICDE 2020); choosing
// the order by renumbering the vertices is ours, and makes the smallest neighbour the first one in
// the sorted edges.
//
// The result does not depend on memory or threads. The runs of a call have no stable format: they
// are removed before it returns, except those of its result.
package components

import (
	"context"
	"fmt"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
)

// Components labels every vertex that has an edge with the smallest vertex of its component: in the
// result Key is a vertex and Value its label, ascending by vertex.
//
// edges has a<<32 | b as Key, for an edge between vertices a < b < n; repeated edges do no harm,
// and values are ignored. n is at most 2³². Of o it uses Dir, Scheme, Memory (0: no limit; kept to
// from 16 MiB on), Threads, and Name, to which it appends three digits or more for each sorter.
// Memory does not include that of edges, which the caller closes; it includes that of the result,
// which is a quarter of it.
func Components(ctx context.Context, edges *extsort.Sorted, n int, o extsort.Options) (*extsort.Sorted, error) {
	labels, _, err := solve(ctx, edges, n, o)
	if err != nil {
		return nil, fmt.Errorf("connected components: %w", err)
	}
	return labels, nil
}

// solve also returns how many times the graph was contracted.
func solve(ctx context.Context, edges *extsort.Sorted, n int, o extsort.Options) (labels *extsort.Sorted, rounds int, err error) {
	if n < 0 || uint64(n) > 1<<32 {
		return nil, 0, fmt.Errorf("%d vertices", n)
	}
	s := &solver{ctx: ctx, n: uint64(n), o: o}
	if o.Memory <= 0 || int64(n)*4+int64(n)/8 <= o.Memory-o.Memory/sorterShare {
		labels, err = s.inMemory(edges)
		return labels, 0, err
	}
	labels, err = s.external(edges)
	return labels, s.rounds, err
}

// inMemory labels the graph by union-find, with 4⅛ bytes a vertex.
func (s *solver) inMemory(edges *extsort.Sorted) (*extsort.Sorted, error) {
	u := cluster.New(int(s.n))
	hasEdge := bitset.New[uint32](int(s.n))
	err := s.each(edges, func(e extsort.Entry) error {
		a, b, err := s.vertices(e)
		if err == nil {
			u.Union(a, b)
			hasEdge.Add(a)
			hasEdge.Add(b)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.sort(s.vertexBits(), false, func(add adder) error {
		for v := range hasEdge.All() {
			if err := add(uint64(v), uint64(u.Find(v))); err != nil {
				return err
			}
		}
		return nil
	})
}
