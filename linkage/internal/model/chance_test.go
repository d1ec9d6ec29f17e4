package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

func normal(r *rand.Rand, n int, mean float64) []float64 {
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = mean + r.NormFloat64()
	}
	slices.Sort(scores)
	return scores
}

func TestPairsOfChanceAreToldByOwnTables(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	own := normal(r, 2000, 0)
	chanceOnly := OddsOf(own, normal(r, 1000, 0), 1000, false)
	for _, z := range []float64{-1, 0, 1} {
		if got := chanceOnly.at(z); got < 0.8 || got > 1.2 {
			t.Errorf("%.2f pairs of chance for one of score %v, where all are of chance", got, z)
		}
	}
	half := append(normal(r, 500, 0), normal(r, 500, 6)...)
	slices.Sort(half)
	mixed := OddsOf(own, half, len(half), false)
	if got := mixed.unmatched; got < 0.45 || got > 0.55 {
		t.Errorf("%.2f of the records have no partner, want 0.5", got)
	}
	if top, low := mixed.at(5), mixed.at(-1); top > 0.01 || low < 1.6 {
		t.Errorf("%.2f pairs of chance for one at the top, %.2f at the bottom: want 0 and 2", top, low)
	}
	if at, most := mixed.at(5), OddsOf(own, half, len(half), true).at(5); most <= at || most > 0.05 {
		t.Errorf("up to %.3f pairs of chance for one at the top, where %.3f were counted", most, at)
	}
	if Bests(own).Comparable(normal(r, 1000, -2), 1000) {
		t.Error("strangers within a table that are more alike than all pairs across are taken for chance")
	}
	if !Bests(own).Comparable(half, len(half)) || Bests(nil).Comparable(own, len(own)) {
		t.Error("what chance finds is not seen, or seen where there is nothing")
	}
	if OddsOf(nil, own, len(own), true) != nil || OddsOf(own, nil, 0, true) != nil {
		t.Error("there are odds without a record")
	}
}

func TestStrangersOfWhomTheBestIsNotAheadAreNoMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tables := func(matches int) (rivalries, Bests) {
		of, best := newRivalries(500), make(Bests, 500)
		for i := range of {
			for range 40 { // strangers' scores fall off exponentially
				of.see(i, r.ExpFloat64()-8, 0.1)
			}
			if i < matches {
				of.see(i, 6+r.NormFloat64(), 0.99)
			}
			best[i] = of[i].best[0]
		}
		return of, best.Sorted()
	}
	for matches, least := range map[int]float64{0: 0.7, 400: 0} {
		of, best := tables(matches)
		top := best[len(best)-20]
		if at := OddsOf(of.Expected(), best, len(best), true).at(top); at < least || matches > 0 && at > 0.2 {
			t.Errorf("%d matches: %.2f pairs of chance for one at the top", matches, at)
		}
	}
}

// TestASideThatIsNotKnownBoundsNothing has a partner for every record of that side.
func TestASideThatIsNotKnownBoundsNothing(t *testing.T) {
	c := &compare.Comparison{Pairs: []compare.Pair{{A: 0, B: 0}, {A: 1, B: 1}}, Levels: make([]compare.Level, 4), Width: 2, Left: 2, Right: 3}
	m := &Model{Width: 2, Share: []float64{1, 1}, Evidence: make([]float64, 2*compare.Levels), Prior: 40}
	known := Sides{Right: &odds{from: []float64{math.Inf(-1)}, chance: []float64{0.3}, unmatched: 1}}
	for _, p := range known.allowed(c, m, [2]int{2, 3}, []float64{1, 1}, bounds{from: 2, sum: SumOf}) {
		if !(math.Abs(p-0.9) <= 0.03) { // 0.3 by chance for each pair, if no record had a partner; a third of the right ones has none
			t.Errorf("probability %v, want 0.9", p)
		}
	}
}
