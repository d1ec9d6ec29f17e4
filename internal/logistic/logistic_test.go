package logistic

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func all(int) bool { return true }

// draw returns observations of known weights.
func draw(n int, weights []float64, seed uint64) *Observations {
	r := rand.New(rand.NewPCG(seed, 1))
	o := &Observations{Features: len(weights)}
	row := make([]float64, len(weights))
	for range n {
		for i := range row {
			row[i] = r.NormFloat64()
		}
		row[0] = 1
		o.Append(row, r.Float64() < Probability(Logit(weights, row)))
	}
	return o
}

func TestManyObservationsShowTheWeightsThatMadeThem(t *testing.T) {
	want := []float64{-1, 2, 0, 0.5}
	got := Fit(draw(50_000, want, 1), all, make([]float64, 4), 1)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.06 {
			t.Errorf("weight %d is %.3f, want %.3f", i, got[i], want[i])
		}
	}
}

func TestWithoutObservationsTheWeightsStay(t *testing.T) {
	start := []float64{1, -2}
	for name, got := range map[string][]float64{
		"none":         Fit(&Observations{Features: 2}, all, start, 1),
		"none used":    Fit(draw(100, start, 2), func(int) bool { return false }, start, 1),
		"large weight": Fit(draw(100, []float64{5, 5}, 2), all, start, 1e9),
	} {
		for i := range start {
			if math.Abs(got[i]-start[i]) > 1e-3 {
				t.Errorf("%s: %v, want %v", name, got, start)
			}
		}
	}
}

// TestNoWeightsNearbyFitBetter holds the fit against small changes of each weight, for
// observations that weights part perfectly and constant features too.
func TestNoWeightsNearbyFitBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features := rapid.IntRange(1, 4).Draw(t, "features")
		value := rapid.Float64Range(-3, 3)
		o := &Observations{Features: features}
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			o.Append(rapid.SliceOfN(value, features, features).Draw(t, "row"), rapid.Bool().Draw(t, "positive"))
		}
		start := rapid.SliceOfN(value, features, features).Draw(t, "start")
		f := fitting{o, all, start, rapid.Float64Range(0.05, 10).Draw(t, "strength")}
		w := Fit(o, all, start, f.strength)
		loss := f.loss(w)
		for i := range w {
			for _, d := range []float64{-1e-2, 1e-2} {
				w[i] += d
				if f.loss(w) < loss-1e-9 {
					t.Fatalf("weight %d of %v is better by %v", i, w, d)
				}
				w[i] -= d
			}
		}
	})
}
