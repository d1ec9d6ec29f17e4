// Package components labels the connected components of a graph.
package components

import (
	"context"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/extsort"
)

// Components labels every vertex that has an edge with the smallest vertex of its
// component.
func Components(ctx context.Context, edges *extsort.Sorted, n int, o extsort.Options) (*extsort.Sorted, error) {
	u := cluster.New(n)
	seen := make([]bool, n)
	r := edges.Reader()
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		a, b := uint32(e.Key>>32), uint32(e.Key)
		u.Union(a, b)
		seen[a], seen[b] = true, true
	}
	r.Close()
	s, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	a := s.Appender()
	for i := range n {
		if seen[i] {
			a.Add(uint64(i), uint64(u.Find(uint32(i))))
		}
	}
	a.Flush()
	return s.Sort(ctx)
}
