package lsh

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
	"pgregory.net/rapid"
)

func containment(t testing.TB, threshold float64) measure.Threshold {
	t.Helper()
	of, err := measure.NewThreshold(measure.Containment, threshold)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func TestTuneSampleOfCommonThresholds(t *testing.T) {
	for _, c := range []struct {
		threshold, recall float64
		want              Sample
		outOfReach        bool
	}{
		{1, 0, Sample{3, 3}, false},
		{0.9, 0, Sample{5, 3}, false},
		{0.8, 0, Sample{7, 3}, false},
		{0.5, 0, Sample{14, 3}, false},
		{0.5, 0.9, Sample{9, 3}, false},
		{0.1, 0, Sample{81, 3}, false},
		{0.05, 0, Sample{128, 3}, true},
	} {
		got, err := TuneSample(containment(t, c.threshold), c.recall)
		if got != c.want || errors.Is(err, ErrRecallOutOfReach) != c.outOfReach || got.Validate() != nil {
			t.Errorf("threshold %g, recall %g: %v, %v; want %v", c.threshold, c.recall, got, err, c.want)
		}
	}
}

func TestTuneSampleTakesTheSmallestThatReachesTheRecall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := float64(rapid.IntRange(70, 1000).Draw(t, "thousandths")) / 1000
		recall := rapid.Float64Range(0.5, 0.999).Draw(t, "recall")
		of, err := measure.NewThreshold(measure.MaxContainment, threshold)
		if err != nil {
			t.Fatal(err)
		}
		s, err := TuneSample(of, recall)
		if err != nil && !errors.Is(err, ErrRecallOutOfReach) {
			t.Fatal(err)
		}
		if err == nil && s.Probability(of.Float()) < recall {
			t.Fatalf("%v finds %g", s, s.Probability(of.Float()))
		}
		if smaller := (Sample{s.Size - 1, s.Agree}); smaller.Size >= s.Agree && smaller.Probability(of.Float()) >= recall {
			t.Fatalf("%v would do in place of %v", smaller, s)
		}
	})
}

func TestTuneSampleRefusesWhatItCannotServe(t *testing.T) {
	jaccard, _ := measure.NewThreshold(measure.Jaccard, 0.8)
	if _, err := TuneSample(jaccard, 0); err == nil {
		t.Error("took jaccard")
	}
	for _, recall := range []float64{-0.1, 1, 2} {
		if _, err := TuneSample(containment(t, 0.8), recall); err == nil {
			t.Errorf("took recall %g", recall)
		}
	}
}

// The sample is drawn without replacement from documents of any size, and the votes of
// small ones count for more; so the recall is at least that of the binomial distribution.
func TestSamplesFindWhatTheyPromise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const trials = 20_000
	for _, threshold := range []float64{0.2, 0.5, 0.8, 0.95} {
		of := containment(t, threshold)
		s, err := TuneSample(of, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 2, 3, 4, 5, 7, 10, 30, 200} {
			least := int(of.MinOverlap(uint64(size), uint64(size)))
			found := 0
			for range trials {
				// Features 0 … least−1 are shared, and the sample is what comes first.
				order := random.Perm(size)
				shared := 0
				for _, f := range order[:min(s.Size, size)] {
					if f < least {
						shared++
					}
				}
				if shared*s.Votes(least) >= s.Agree {
					found++
				}
			}
			// Four standard deviations of a recall of 0.99 are 0.0028.
			if recall := float64(found) / trials; recall < DefaultRecall-0.0028 || size <= s.Size && found != trials {
				t.Errorf("threshold %g, %d features, %d of them shared: %v found %.4f", threshold, size, least, s, recall)
			}
		}
	}
}

func TestSampleValidate(t *testing.T) {
	valid := []Sample{{1, 1}, {7, 3}, {MaxSample, MaxSample}}
	for _, s := range append(slices.Clone(valid), Sample{}, Sample{3, 0}, Sample{3, 4}, Sample{MaxSample + 1, 3}) {
		if (s.Validate() == nil) != slices.Contains(valid, s) {
			t.Errorf("%v: %v", s, s.Validate())
		}
	}
}
