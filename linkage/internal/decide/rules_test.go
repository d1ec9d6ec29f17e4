package decide

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/roomtest"
)

func TestRulesPickWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Bool().Draw(t, "one table")
		g := model.Graph{Pairs: roomtest.DrawPairs(t, one), Left: 5, Right: 4}
		if one {
			g.Right = 0
		}
		rank, wholes := make([]float64, len(g.Pairs)), make([]float32, len(g.Pairs))
		for i := range rank {
			rank[i] = float64(rapid.IntRange(0, 3).Draw(t, "rank"))
			wholes[i] = float32(rapid.IntRange(0, 2).Draw(t, "whole"))
		}
		// meet tells whether two edges share a record in a role that has one partner.
		meet := func(i, j int) bool {
			p, q := g.Pairs[i], g.Pairs[j]
			return p.A == q.A || p.B == q.B || one && (p.A == q.B || p.B == q.A)
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
		mutual := g.Mutual(rank, wholes)
		for i := range g.Pairs {
			beaten := false
			for j := range g.Pairs {
				beaten = beaten || i != j && meet(i, j) && before(j, i)
			}
			if slices.Contains(mutual, i) == beaten {
				t.Fatalf("mutual %v of %v by %v, %v", mutual, g.Pairs, rank, wholes)
			}
		}
		chosen, _ := OneToOne(g, make([]float64, len(rank)), rank, wholes) // worth nothing: greedy
		for i := range g.Pairs {
			rival := false // a chosen edge that comes before it
			for _, j := range chosen {
				rival = rival || i != j && meet(i, j) && before(j, i)
			}
			if slices.Contains(chosen, i) == rival {
				t.Fatalf("one-to-one %v of %v by %v, %v", chosen, g.Pairs, rank, wholes)
			}
		}
		best := Best(g, rank, wholes)
		for i := range g.Pairs {
			beaten := false
			for j := range g.Pairs {
				beaten = beaten || g.Pairs[i].A == g.Pairs[j].A && j != i && before(j, i)
			}
			if slices.Contains(best, i) == beaten {
				t.Fatalf("best %v of %v by %v, %v", best, g.Pairs, rank, wholes)
			}
		}
	})
}

func TestOneToOneExpectsAsManyRightLinksAsTheGreedyRuleOrMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := model.Graph{Pairs: roomtest.DrawPairs(t, false), Left: 5, Right: 4}
		probability, wholes := make([]float64, len(g.Pairs)), make([]float32, len(g.Pairs))
		for i := range probability {
			probability[i] = float64(rapid.IntRange(0, 10).Draw(t, "tenths")) / 10
		}
		chosen, _ := OneToOne(g, probability, probability, wholes)
		greedy, _ := OneToOne(g, make([]float64, len(g.Pairs)), probability, wholes)
		expect := func(edges []int) (s float64) {
			for _, i := range edges {
				s += probability[i]
			}
			return s
		}
		if expect(chosen) < expect(greedy)-1e-6 {
			t.Fatalf("%v expects %v, %v of the greedy rule %v", chosen, expect(chosen), greedy, expect(greedy))
		}
		for i, p := range g.Pairs {
			met := false
			for _, j := range chosen {
				q := g.Pairs[j]
				if met = met || p.A == q.A || p.B == q.B; i != j && slices.Contains(chosen, i) && (p.A == q.A || p.B == q.B) {
					t.Fatalf("%v has two edges of a record", chosen)
				}
			}
			if !met {
				t.Fatalf("edge %d is free beside %v of %v", i, chosen, g.Pairs)
			}
		}
	})
}

func TestTopKeepsTheBestOfEachLeftRecord(t *testing.T) {
	pairs := []compare.Pair{{A: 0, B: 1}, {A: 0, B: 2}, {A: 0, B: 3}, {A: 2, B: 0}}
	got := KeepTop(func(uint32) int { return 2 }, []int{0, 1, 2, 3}, pairs, []float64{1, 3, 2, 0})
	if want := []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestLinksThatOnlyTheOrderChoseAreTied(t *testing.T) {
	g := model.Graph{Left: 4, Right: 4, Pairs: []compare.Pair{{A: 0, B: 0}, {A: 0, B: 1}, {A: 1, B: 1}, {A: 2, B: 2}, {A: 3, B: 2}, {A: 3, B: 3}}}
	wholes := make([]float32, len(g.Pairs))
	for _, test := range []struct {
		rank  []float64
		links []int
		tied  int
	}{
		{[]float64{5, 5, 1, 3, 2, 1}, []int{0, 3}, 1},       // record 0 could be with 1
		{[]float64{5, 5, 6, 3, 2, 1}, []int{0, 2, 3}, 0},    // that one has a better partner
		{[]float64{5, 5, 5, 3, 3, 1}, []int{0, 2, 3}, 3},    // the last one could be with record 3
		{[]float64{5, 5, 5, 3, 3, 9}, []int{0, 2, 3, 5}, 2}, // which has a better partner
	} {
		if got := Tied(g, test.links, test.rank, wholes, model.Once{Left: true, Right: true}); got != test.tied {
			t.Errorf("of %v by %v %d are tied, not %d", test.links, test.rank, got, test.tied)
		}
	}
}
