package linkage

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGraph draws the distinct candidates of few records, of two tables or of one.
func drawGraph(t *rapid.T, one bool) graph {
	g := graph{left: 5, right: 4}
	if one {
		g.right = 0
	}
	for range rapid.IntRange(0, 10).Draw(t, "edges") {
		p := pair{a: uint32(rapid.IntRange(0, 4).Draw(t, "a")), b: uint32(rapid.IntRange(0, 3).Draw(t, "b"))}
		if one && p.a <= p.b {
			continue
		}
		if one {
			p.a, p.b = p.b, p.a
		}
		g.pairs = append(g.pairs, p)
	}
	slices.SortFunc(g.pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	g.pairs = slices.Compact(g.pairs)
	return g
}

// TestExclusiveIsExactOnTrees holds belief propagation against all matchings of a forest,
// each counted by the product of its edges' odds.
func TestExclusiveIsExactOnTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := forest(drawGraph(t, false))
		odds := make([]float64, len(g.pairs))
		for i := range odds {
			odds[i] = math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log odds"))
		}
		want := make([]float64, len(odds))
		all := 0.0
		for set := range 1 << len(odds) {
			product, a, b := 1.0, map[uint32]bool{}, map[uint32]bool{}
			for i, p := range g.pairs {
				if set>>i&1 == 0 {
					continue
				}
				if a[p.a] || b[p.b] {
					product = 0
				}
				a[p.a], b[p.b] = true, true
				product *= odds[i]
			}
			all += product
			for i := range g.pairs {
				if set>>i&1 == 1 {
					want[i] += product
				}
			}
		}
		got := make([]float64, len(odds))
		newExclusive(t.Context(), g).marginals(got, nil, func(i int) float64 { return odds[i] })
		for i := range got {
			if math.Abs(got[i]-want[i]/all) > 1e-9 {
				t.Fatalf("edge %v: probability %v, want %v", g.pairs[i], got[i], want[i]/all)
			}
		}
	})
}

// forest leaves out edges that close a cycle.
func forest(g graph) graph {
	root := make([]int, g.left+g.right)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	g.pairs = slices.DeleteFunc(g.pairs, func(p pair) bool {
		a, b := find(int(p.a)), find(g.left+int(p.b))
		root[a] = b
		return a == b
	})
	return g
}

func TestRulesPickWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Bool().Draw(t, "one table")
		g := drawGraph(t, one)
		rank, wholes := make([]float64, len(g.pairs)), make([]float32, len(g.pairs))
		for i := range rank {
			rank[i] = float64(rapid.IntRange(0, 3).Draw(t, "rank"))
			wholes[i] = float32(rapid.IntRange(0, 2).Draw(t, "whole"))
		}
		// meet tells whether two edges share a record in a role that has one partner.
		meet := func(i, j int) bool {
			p, q := g.pairs[i], g.pairs[j]
			return p.a == q.a || p.b == q.b || one && (p.a == q.b || p.b == q.a)
		}
		before := func(i, j int) bool { // edge i comes before j
			if rank[i] != rank[j] {
				return rank[i] > rank[j]
			}
			if wholes[i] != wholes[j] {
				return wholes[i] > wholes[j]
			}
			return i < j
		}
		mutual := g.mutual(rank, wholes)
		for i := range g.pairs {
			beaten := false
			for j := range g.pairs {
				beaten = beaten || i != j && meet(i, j) && before(j, i)
			}
			if slices.Contains(mutual, i) == beaten {
				t.Fatalf("mutual %v of %v by %v, %v", mutual, g.pairs, rank, wholes)
			}
		}
		chosen, _ := g.oneToOne(make([]float64, len(rank)), rank, wholes) // worth nothing: greedy
		for i := range g.pairs {
			rival := false // a chosen edge that comes before it
			for _, j := range chosen {
				rival = rival || i != j && meet(i, j) && before(j, i)
			}
			if slices.Contains(chosen, i) == rival {
				t.Fatalf("one-to-one %v of %v by %v, %v", chosen, g.pairs, rank, wholes)
			}
		}
		best := g.best(rank, wholes)
		for i := range g.pairs {
			beaten := false
			for j := range g.pairs {
				beaten = beaten || g.pairs[i].a == g.pairs[j].a && j != i && before(j, i)
			}
			if slices.Contains(best, i) == beaten {
				t.Fatalf("best %v of %v by %v, %v", best, g.pairs, rank, wholes)
			}
		}
	})
}

func TestOneToOneExpectsAsManyRightLinksAsTheGreedyRuleOrMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, false)
		probability, wholes := make([]float64, len(g.pairs)), make([]float32, len(g.pairs))
		for i := range probability {
			probability[i] = float64(rapid.IntRange(0, 10).Draw(t, "tenths")) / 10
		}
		chosen, _ := g.oneToOne(probability, probability, wholes)
		greedy, _ := g.oneToOne(make([]float64, len(g.pairs)), probability, wholes)
		expect := func(edges []int) (s float64) {
			for _, i := range edges {
				s += probability[i]
			}
			return s
		}
		if expect(chosen) < expect(greedy)-1e-6 {
			t.Fatalf("%v expects %v, %v of the greedy rule %v", chosen, expect(chosen), greedy, expect(greedy))
		}
		for i, p := range g.pairs {
			met := false
			for _, j := range chosen {
				q := g.pairs[j]
				if met = met || p.a == q.a || p.b == q.b; i != j && slices.Contains(chosen, i) && (p.a == q.a || p.b == q.b) {
					t.Fatalf("%v has two edges of a record", chosen)
				}
			}
			if !met {
				t.Fatalf("edge %d is free beside %v of %v", i, chosen, g.pairs)
			}
		}
	})
}

func TestTopKeepsTheBestOfEachLeftRecord(t *testing.T) {
	pairs := []pair{{a: 0, b: 1}, {a: 0, b: 2}, {a: 0, b: 3}, {a: 2, b: 0}}
	got := keepTop(func(uint32) int { return 2 }, []int{0, 1, 2, 3}, pairs, []float64{1, 3, 2, 0})
	if want := []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}
