package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/roomtest"
)

// TestExclusiveIsExactOnTrees holds belief propagation against all matchings of a forest, or all sets of edges in which the
// records of one side have one edge, each counted by the product of its edges' odds.
func TestExclusiveIsExactOnTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Bool().Draw(t, "one table")
		g := Graph{Pairs: roomtest.DrawPairs(t, one), Left: 5, Right: 4}
		if one {
			g.Right = 0
		}
		g = forest(g)
		odds := make([]float64, len(g.Pairs))
		for i := range odds {
			odds[i] = math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log odds"))
		}
		want := make([]float64, len(odds))
		all := 0.0
		once := Once{true, true}
		if !one {
			once = rapid.SampledFrom([]Once{once, {Left: true}, {Right: true}}).Draw(t, "once")
		}
		for set := range 1 << len(odds) {
			product, a, b := 1.0, map[uint32]bool{}, map[uint32]bool{}
			if one {
				b = a
			}
			for i, p := range g.Pairs {
				if set>>i&1 == 0 {
					continue
				}
				if once.Left && a[p.A] || once.Right && b[p.B] {
					product = 0
				}
				a[p.A], b[p.B] = true, true
				product *= odds[i]
			}
			all += product
			for i := range g.Pairs {
				if set>>i&1 == 1 {
					want[i] += product
				}
			}
		}
		got := make([]float64, len(odds))
		newExclusive(t.Context(), g, once).marginals(got, nil, odds)
		for i := range got {
			if math.Abs(got[i]-want[i]/all) > 1e-9 {
				t.Fatalf("edge %v: probability %v, want %v", g.Pairs[i], got[i], want[i]/all)
			}
		}
	})
}

// forest leaves out edges that close a cycle.
func forest(g Graph) Graph {
	root := make([]int, g.Left+g.Right)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	g.Pairs = slices.DeleteFunc(g.Pairs, func(p compare.Pair) bool {
		a, b := find(int(p.A)), find(min(g.Left, g.Left*g.Right)+int(p.B)) // of one table from 0 on
		root[a] = b
		return a == b
	})
	return g
}
