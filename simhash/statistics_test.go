package simhash

import (
	"fmt"
	"math"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
)

// overlapping returns two sets of n random features, of which common are in both.
func overlapping(n, common int, seed uint64) (a, b []uint64) {
	for i := range uint64(2*n - common) {
		f := hashing.Mix(hashing.Mix(seed) + i)
		if i < uint64(n) {
			a = append(a, f)
		}
		if i >= uint64(n-common) {
			b = append(b, f)
		}
	}
	return a, b
}

// For sets that are not small, bits agree with probability 1 − θ/π, independently of
// each other: the mean has no bias that could be seen, and the spread is that of
// independent bits. Fixed seeds: the bounds are at four standard deviations.
func TestTheEstimateIsThatOfTheory(t *testing.T) {
	const trials = 200
	for _, line := range []string{"simhash bits=256", "fastsimhash bits=256"} {
		s := mustParse(t, line)
		sketcher := s.NewSketcher()
		x, y := make([]uint64, s.Words()), make([]uint64, s.Words())
		for _, cosine := range []float64{0, 0.25, 0.5, 0.75, 0.9, 1} {
			const n = 800
			var sum, squares float64
			for trial := range trials {
				a, b := overlapping(n, int(n*cosine), uint64(trial))
				sketcher.Sketch(x, a)
				sketcher.Sketch(y, b)
				fraction := s.Fraction(s.Equal(x, y))
				sum += fraction
				squares += fraction * fraction
			}
			mean := sum / trials
			deviation := math.Sqrt(max(0, squares/trials-mean*mean))
			p := 1 - math.Acos(cosine)/math.Pi
			want := math.Sqrt(p * (1 - p) / float64(s.Bits()))
			name := fmt.Sprintf("%s, cosine %v", line, cosine)
			if math.Abs(mean-p) > 4*want/math.Sqrt(trials)+0.002 { // sets are finite: counts are not quite normal
				t.Errorf("%s: %v of the bits agree, want %v", name, mean, p)
			}
			if math.Abs(deviation-want) > 4*want/math.Sqrt(2*trials) {
				t.Errorf("%s: standard deviation %v, want %v", name, deviation, want)
			}
		}
	}
}

func TestTheCosineInvertsTheFraction(t *testing.T) {
	s := mustParse(t, "simhash bits=1000")
	for equal, want := range map[int]float64{1000: 1, 500: 0, 300: 0, 0: 0, 750: math.Sqrt2 / 2} {
		if got := s.Cosine(equal); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d equal bits: cosine %v, want %v", equal, got, want)
		}
	}
	if got := s.StandardError(1); got != 0 {
		t.Errorf("standard error of equal sets %v", got)
	}
	if got, want := s.StandardError(0), math.Pi/2/math.Sqrt(1000); math.Abs(got-want) > 1e-12 {
		t.Errorf("standard error of disjoint sets %v, want %v", got, want)
	}
}

func TestTheLargestDistanceIsTheLastThatReachesTheThreshold(t *testing.T) {
	s := mustParse(t, "simhash bits=1000")
	for _, threshold := range []float64{0.1, 0.5, 0.8, 0.9, 0.99, 1} {
		d := s.MaxDistance(threshold)
		if s.Cosine(s.Bits()-d) < threshold || d < s.Bits() && s.Cosine(s.Bits()-d-1) >= threshold {
			t.Errorf("threshold %v: distance %d", threshold, d)
		}
	}
	if d := s.MaxDistance(1.1); d != -1 {
		t.Errorf("threshold above 1: distance %d", d)
	}
}
