package closeness

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawPoints draws points and how often each occurs.
func drawPoints(t *rapid.T) (points []float64, counts []uint32) {
	for _, x := range rapid.SliceOfNDistinct(rapid.IntRange(-300, 300), leastPoints, 60, rapid.ID).Draw(t, "points") {
		points = append(points, float64(x))
		counts = append(counts, rapid.Uint32Range(1, 4).Draw(t, "count"))
	}
	return points, counts
}

// TestAStepHasNoMorePairsThanItsShare compares every pair of points with every other, as a slow twin.
func TestAStepHasNoMorePairsThanItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points, counts := drawPoints(t)
		s := NewScale(points, counts)
		var pairs, all float64
		var within [Steps + 1]float64
		nearest := math.Inf(1) // of the distances that are beyond the first step
		for i, x := range points {
			for j, y := range points {
				if i == j {
					continue
				}
				n := float64(counts[i]) * float64(counts[j])
				all += n
				step := s.Step(s.Coordinate(x), s.Coordinate(y))
				for k := 1; k <= step; k++ {
					within[k] += n
				}
				if d := math.Abs(s.Coordinate(x) - s.Coordinate(y)); step == 0 {
					nearest = min(nearest, d)
				}
			}
		}
		for k := 1; k <= Steps; k++ {
			if share := Share(k); within[k] > share*all*(1+1e-9) {
				t.Fatalf("%v of the pairs have step %d, want at most %v", within[k]/all, k, share)
			}
		}
		for i, x := range points {
			for j, y := range points {
				if i != j && math.Abs(s.Coordinate(x)-s.Coordinate(y)) <= nearest {
					pairs += float64(counts[i]) * float64(counts[j])
				}
			}
		}
		if pairs <= all/4*(1-1e-9) {
			t.Fatalf("only %v of the pairs are as near as the first that has no step", pairs/all)
		}
	})
}

// TestAQuantileIsTheOneThatCountsPairsEachTime has a twin that asks no count before. Points may be equal, or very near.
func TestAQuantileIsTheOneThatCountsPairsEachTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sorted []weighted
		at := rapid.Float64Range(-1e6, 1e6).Draw(t, "first")
		for _, gap := range rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 1, 7.3, 1e5}), 1, 40).Draw(t, "gaps") {
			sorted = append(sorted, weighted{at, float64(rapid.IntRange(1, 4).Draw(t, "count"))})
			at += gap
		}
		sorted = append(sorted, weighted{at, 1})
		share := rapid.Float64Range(0.0001, 0.9).Draw(t, "share")
		low, high := 0.0, at-sorted[0].at
		for range 60 {
			middle := (low + high) / 2
			if within, _, _ := shareWithin(sorted, middle); within > share {
				high = middle
			} else {
				low = middle
			}
		}
		if got := quantile(sorted, share); got != low {
			t.Fatalf("quantile %v of %v is %v, counted each time %v", share, sorted, got, low)
		}
	})
}

func TestStepsDoNotDependOnUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points, counts := drawPoints(t)
		unit := math.Exp2(float64(rapid.IntRange(-20, 20).Draw(t, "unit"))) // so that products are exact
		other := make([]float64, len(points))
		for i, x := range points {
			other[i] = unit * x
		}
		s, o := NewScale(points, counts), NewScale(other, counts)
		if s.ratio != o.ratio {
			t.Fatalf("ratios: %v, in other units %v", s.ratio, o.ratio)
		}
		if s.ratio {
			return // logarithms are rounded
		}
		for i := range points {
			for j := range points {
				if x, y := s.Step(points[i], points[j]), o.Step(other[i], other[j]); x != y {
					t.Fatalf("step %d of %v and %v, and %d in other units", x, points[i], points[j], y)
				}
			}
		}
	})
}

func TestNumbersOfManyMagnitudesAreComparedByRatio(t *testing.T) {
	var amounts, days []float64
	var counts []uint32
	for i := range 2000 {
		x := float64(i) + 0.5
		amounts = append(amounts, math.Exp(x/150))
		days = append(days, 18000+math.Mod(x*377, 2000))
		counts = append(counts, 1)
	}
	s := NewScale(amounts, counts)
	for _, at := range []float64{2, 2000} {
		if step := s.Step(s.Coordinate(at), s.Coordinate(at*1.01)); step < 5 {
			t.Errorf("step %d of a hundredth more than %v", step, at)
		}
	}
	if s := NewScale(days, counts); s.ratio {
		t.Error("dates are compared by ratio")
	}
}

func TestFewPointsAndNoPointsHaveNoScale(t *testing.T) {
	none := math.NaN()
	if s := NewScale([]float64{none, none, 1, 2, 3, 4, 5, 6, 7, none}, make([]uint32, 10)); s != nil {
		t.Error("values that no row has make a scale")
	}
	if s := NewScale([]float64{1, 2, 3}, []uint32{9, 9, 9}); s != nil {
		t.Error("three points make a scale")
	}
}
