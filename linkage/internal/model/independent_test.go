package model

import (
	"math"
	"testing"
)

// TestChanceOfScoresIsThatOfAllPatterns compares the number of pairs in each class with a sum over all patterns of the columns.
func TestChanceOfScoresIsThatOfAllPatterns(t *testing.T) {
	s := &Surroundings{Alike: []float64{0.01, 0.2, 0.05}, Filled: []float64{1, 0.5, 0.9}, Among: 1e6}
	l := s.ladderOf([]float64{0.9, 0.95, 0.7})
	want := make([]float64, l.classes)
	for pattern := range 27 {
		n, class := s.Among, 0
		for f, rest := 0, pattern; f < 3; f, rest = f+1, rest/3 {
			n *= [3]float64{s.Filled[f] * s.Alike[f], s.Filled[f] * (1 - s.Alike[f]), 1 - s.Filled[f]}[rest%3]
			class += l.adds[f][rest%3]
		}
		want[class] += n
	}
	sum := 0.0
	for class, n := range s.byChance(&l) {
		if sum += n; math.Abs(n-want[class]) > 1e-6 {
			t.Errorf("class %d: %v pairs by chance, want %v", class, n, want[class])
		}
	}
	if math.Abs(sum-s.Among) > 1e-3 {
		t.Errorf("%v pairs in all, want %v", sum, s.Among)
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
