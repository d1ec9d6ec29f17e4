package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/roomtest"
)

// TestMutualIsOfThePartnersOfOneSource holds Mutual with sources against each pair of edges: an edge is kept unless a better one
// leads from one of its records to the same source.
func TestMutualIsOfThePartnersOfOneSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Graph{Pairs: roomtest.DrawPairs(t, true), Left: 5, Sources: rapid.SliceOfN(rapid.Uint32Range(0, 3), 5, 5).Draw(t, "sources")}
		g.Pairs = slices.DeleteFunc(g.Pairs, func(p compare.Pair) bool { return g.Sources[p.A] > 0 && g.Sources[p.A] == g.Sources[p.B] })
		var rank []float64
		for _, at := range rapid.Permutation(ascending(len(g.Pairs))).Draw(t, "rank") {
			rank = append(rank, float64(at))
		}
		var want []int
		for i, p := range g.Pairs {
			beaten := false
			for j, q := range g.Pairs {
				for _, x := range [2][2]uint32{{p.A, p.B}, {p.B, p.A}} {
					for _, y := range [2][2]uint32{{q.A, q.B}, {q.B, q.A}} {
						same := x[0] == y[0] && g.Sources[x[0]] > 0 && g.Sources[x[1]] > 0 && g.Sources[x[1]] == g.Sources[y[1]]
						beaten = beaten || same && rank[j] > rank[i]
					}
				}
			}
			if !beaten {
				want = append(want, i)
			}
		}
		if got := g.Mutual(rank, make([]float32, len(rank))); !slices.Equal(got, want) {
			t.Fatalf("%v of %+v with ranks %v, want %v", got, g, rank, want)
		}
	})
}

func ascending(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
