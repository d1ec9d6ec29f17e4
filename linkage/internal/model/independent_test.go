package model

import (
	"math"
	"testing"
)

// TestChanceOfScoresIsThatOfAllPatterns compares the number of pairs in each class with a sum over all patterns of the columns.
func TestChanceOfScoresIsThatOfAllPatterns(t *testing.T) {
	s := &Surroundings{Alike: []float64{0.01, 0.2, 0.05}}
	const pairs = 1e6
	strata := []stratum{
		{share: 0.3, filled: []float64{1, 0.5, 0.9}, alike: []float64{0.02, 0.9, 0.05}},
		{share: 0.7, filled: []float64{0.8, 0.6, 1}, alike: []float64{0.004, 0, 0.05}},
	}
	l := s.ladderOf([]float64{0.9, 0.95, 0.7})
	want := make([]float64, l.classes)
	for pattern := range 54 {
		of, class := strata[pattern/27], 0
		n := pairs * of.share
		for f, rest := 0, pattern%27; f < 3; f, rest = f+1, rest/3 {
			n *= [3]float64{of.filled[f] * of.alike[f], of.filled[f] * (1 - of.alike[f]), 1 - of.filled[f]}[rest%3]
			class += l.adds[f][rest%3]
		}
		want[class] += n
	}
	sum := 0.0
	for class, n := range l.byChance(portionsOf(strata), pairs) {
		if sum += n; math.Abs(n-want[class]) > 1e-6 {
			t.Errorf("class %d: %v pairs by chance, want %v", class, n, want[class])
		}
	}
	if math.Abs(sum-pairs) > 1e-3 {
		t.Errorf("%v pairs in all, want %v", sum, pairs)
	}
}

func TestSharesBeyondChanceDoNotFallWithTheScore(t *testing.T) {
	got := moreThan([]float64{1000, 100, 50, 80, 1}, []float64{1000, 100, 4, 39, 0.1})
	want := []float64{0, 0, 1 - 44.1/131, 1 - 44.1/131, 1 - 44.1/131} // 0.9 falls to 0.5, and to 0: one pair is no match
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("class %d: share %v, want %v", i, got[i], want[i])
		}
	}
}
