package eval

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCurveCutsBetweenDifferentScoresOnly(t *testing.T) {
	curve := Curve([]float64{0.9, 0.5, 0.5, 0.7}, []bool{true, true, false, false}, 4)
	want := []Point{{0.9, 1, 1, 0.25, 0.4}, {0.7, 2, 0.5, 0.25, 1.0 / 3}, {0.5, 4, 0.5, 0.5, 0.5}}
	if len(curve) != len(want) {
		t.Fatalf("%d points, want %d: %+v", len(curve), len(want), curve)
	}
	for i, p := range curve {
		if p != want[i] {
			t.Errorf("point %d is %+v, want %+v", i, p, want[i])
		}
	}
	if b := Best(curve); b != want[2] {
		t.Errorf("best is %+v", b)
	}
	if p := Best(Curve(nil, nil, 0)); p != (Point{}) {
		t.Errorf("best of nothing is %+v", p)
	}
}

// TestCurveIsWhatCountingAgainGives holds every point against a count of what is kept.
func TestCurveIsWhatCountingAgainGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "n")
		scores, right := make([]float64, n), make([]bool, n)
		for i := range n {
			scores[i] = float64(rapid.IntRange(0, 5).Draw(t, "score"))
			right[i] = rapid.Bool().Draw(t, "right")
		}
		truth := n + rapid.IntRange(0, 3).Draw(t, "missed")
		for _, p := range Curve(scores, right, truth) {
			kept, hits := 0, 0
			for i := range n {
				if scores[i] >= p.Score {
					kept++
					if right[i] {
						hits++
					}
				}
			}
			precision, recall := float64(hits)/float64(kept), float64(hits)/float64(truth)
			if p.Pairs != kept || p.Precision != precision || p.Recall != recall || math.Abs(p.F1-2*float64(hits)/float64(kept+truth)) > 1e-12 {
				t.Fatalf("%+v where %d are kept, %d of them right of %d", p, kept, hits, truth)
			}
		}
	})
}
