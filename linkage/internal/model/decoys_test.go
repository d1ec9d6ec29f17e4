package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// TestDecoysTellHowLikelyAScoreIs has pairs of one column whose levels are matches as often as known. Pairs within sources
// have the levels of strangers.
func TestDecoysTellHowLikelyAScoreIs(t *testing.T) {
	const matches, strangers, perDecoy = 40_000, 400_000, 4.0
	rng := rand.New(rand.NewPCG(3, 4))
	ofMatch := func() compare.Level { return compare.Level(1 + max(rng.IntN(10), rng.IntN(10))) }
	ofStranger := func() compare.Level { return compare.Level(1 + min(rng.IntN(10), rng.IntN(10), rng.IntN(10))) }
	c, within := &compare.Comparison{Width: 2}, &compare.Comparison{Width: 2}
	add := func(c *compare.Comparison, l compare.Level) {
		c.Levels, c.Pairs = append(c.Levels, l, compare.Missing), append(c.Pairs, compare.Pair{})
	}
	var right, all [compare.Levels]float64
	for i := range matches + strangers {
		l := ofStranger()
		if i < matches {
			l = ofMatch()
			right[l]++
		}
		all[l]++
		add(c, l)
	}
	for range int(strangers / perDecoy) {
		add(within, ofStranger())
	}
	m := NewModel(c, []float64{1})
	for l := range compare.Levels {
		m.Evidence[l] = 0.1 * float64(l) // the scores have the right order, and say nothing else
	}
	got := byDecoys(m, c, &Surroundings{Within: within, Possible: [2]float64{perDecoy, 1}})
	for i, p := range got {
		if l := c.Of(i)[0]; math.Abs(p-right[l]/all[l]) > 0.07 {
			t.Fatalf("level %d: probability %.3f, and %.3f are matches", l, p, right[l]/all[l])
		}
	}
}

func TestScoresThatOnlyPairsWithinSourcesHaveAreNoMatches(t *testing.T) {
	c := &compare.Comparison{Width: 2, Levels: []compare.Level{3, 0}, Pairs: make([]compare.Pair, 1)}
	within := &compare.Comparison{Width: 2, Levels: []compare.Level{3, 0, 3, 0}, Pairs: make([]compare.Pair, 2)}
	m := NewModel(c, []float64{1})
	if p := byDecoys(m, c, &Surroundings{Within: within, Possible: [2]float64{1, 1}}); p[0] != 0 {
		t.Errorf("probability %v, want 0", p[0])
	}
}
