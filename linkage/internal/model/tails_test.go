package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn is candidates of one kind, with scores from a normal distribution.
type drawn struct {
	n    int
	mean float64
	sd   float64
}

func (d drawn) density(z float64) float64 {
	return float64(d.n) / d.sd * math.Exp(-(z-d.mean)*(z-d.mean)/2/d.sd/d.sd)
}

func countScores(kinds ...drawn) *ScoreCounts {
	random := rand.New(rand.NewPCG(1, 2))
	s := new(ScoreCounts)
	for _, k := range kinds {
		for range k.n {
			s.Add(k.mean + k.sd*random.NormFloat64())
		}
	}
	return s
}

// TestTailsTellWherePairsAreAsLikelyRightAsWrong has scores that are off by some nats, and looks
// what a pair is really like where the calibrated log odds are 0.
func TestTailsTellWherePairsAreAsLikelyRightAsWrong(t *testing.T) {
	for _, c := range []struct{ others, matches drawn }{
		{drawn{200_000, -14, 3}, drawn{20_000, 8, 5}},
		{drawn{400_000, -18, 4}, drawn{20_000, 6, 4}},  // too careful
		{drawn{400_000, -10, 3}, drawn{20_000, 14, 5}}, // too bold
		{drawn{50_000, -9, 2}, drawn{5_000, 9, 3}},
	} {
		l, ok := countScores(c.others, c.matches).calibrate()
		if !ok {
			t.Errorf("%v: cannot be told", c)
			continue
		}
		z := -l.At0 / l.Slope
		if off := math.Log(c.matches.density(z) / c.others.density(z)); math.Abs(off) > 1.5 {
			t.Errorf("%v: at score %.2f, taken for even, the log odds are %.2f", c, z, off)
		}
		// Ends are more certain than tangents say, never less.
		for _, z := range []float64{z - 3, z + 3} {
			if truth := math.Log(c.matches.density(z) / c.others.density(z)); truth*l.Of(z) < 0 || math.Abs(l.Of(z)) > math.Abs(truth)+1.5 {
				t.Errorf("%v: the log odds of score %.2f are %.2f, and said to be %.2f", c, z, truth, l.Of(z))
			}
		}
	}
}

func TestTailsTellNothingWhereThereAreNotTwoKindsOfPairs(t *testing.T) {
	for name, kinds := range map[string][]drawn{
		"nothing":                 nil,
		"no matches":              {{300_000, -14, 4}},
		"a few matches":           {{300_000, -14, 3}, {80, 8, 3}},
		"matches only":            {{50_000, 8, 4}},
		"households beside":       {{300_000, -16, 3}, {20_000, 10, 3}, {60_000, -3, 1.5}},
		"matches that all are so": {{300_000, -14, 3}, {300_000, -7, 4}},
	} {
		if l, ok := countScores(kinds...).calibrate(); ok {
			t.Errorf("%s: log odds are said to be %.2f + %.2f·score", name, l.At0, l.Slope)
		}
	}
}
