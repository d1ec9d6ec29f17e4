package lsh

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"pgregory.net/rapid"
)

// slowTune tries all bandings.
func slowTune(threshold, recall float64, k, bits int) (Params, bool) {
	s := ComponentAgreement(threshold, bits)
	for rows := k; rows > 0; rows-- {
		for bands := 1; bands*rows <= k; bands++ {
			if p := (Params{bands, rows, 1}); p.Probability(s) >= recall {
				return p, true
			}
		}
	}
	return Params{k, 1, 1}, false
}

func TestTuneTakesMostRowsThenFewestBands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.OneOf(rapid.Float64Range(0.001, 1), rapid.SampledFrom([]float64{0.5, 0.8, 0.9, 1})).Draw(t, "threshold")
		recall := rapid.OneOf(rapid.Float64Range(0.01, 0.9999), rapid.Just(0.99)).Draw(t, "recall")
		k := rapid.IntRange(1, 300).Draw(t, "k")
		bits := rapid.SampledFrom([]int{1, 2, 4, 8, 16, 32}).Draw(t, "bits")
		got, err := Tune(threshold, recall, k, bits)
		want, ok := slowTune(threshold, recall, k, bits)
		if got != want || errors.Is(err, ErrRecallOutOfReach) == ok {
			t.Fatalf("got %v, %v; want %v, %v", got, err, want, ok)
		}
		if got.Validate(k) != nil {
			t.Fatalf("%v does not fit %d components", got, k)
		}
	})
}

func TestTuneOfCommonThresholds(t *testing.T) {
	for _, c := range []struct {
		threshold  float64
		bits       int
		want       Params
		outOfReach bool
	}{
		{0.9, 32, Params{11, 10, 1}, false},
		{0.8, 32, Params{16, 6, 1}, false},
		{0.7, 32, Params{17, 4, 1}, false},
		{0.5, 32, Params{35, 3, 1}, false},
		{0.1, 32, Params{44, 1, 1}, false},
		{0.02, 32, Params{128, 1, 1}, true},
		{0.8, 1, Params{11, 10, 1}, false}, // components agree with probability 0.9
		{1, 32, Params{1, 128, 1}, false},
	} {
		got, err := Tune(c.threshold, 0, 128, c.bits)
		if got != c.want || errors.Is(err, ErrRecallOutOfReach) != c.outOfReach {
			t.Errorf("threshold %g, %d bits: %v, %v; want %v", c.threshold, c.bits, got, err, c.want)
		}
	}
}

func TestTuneSaysWhatCanBeReached(t *testing.T) {
	p, err := Tune(0.02, 0.99, 128, 32)
	var e *RecallError
	if !errors.As(err, &e) || math.Abs(e.Best-0.9247) > 1e-4 || p.Rows != 1 {
		t.Fatalf("got %v, %v", p, err)
	}
	if !strings.Contains(err.Error(), "at best 0.9247") || !strings.Contains(err.Error(), "more components") {
		t.Errorf("unhelpful error: %v", err)
	}
}

func TestTuneRejectsWhatIsOutOfRange(t *testing.T) {
	for _, c := range []struct {
		threshold, recall float64
		k, bits           int
		want              string
	}{
		{0, 0.9, 128, 32, "threshold 0:"},
		{1.1, 0.9, 128, 32, "threshold 1.1:"},
		{math.NaN(), 0.9, 128, 32, "threshold NaN:"},
		{0.8, 1, 128, 32, "recall 1:"},
		{0.8, -0.1, 128, 32, "recall -0.1:"},
		{0.8, math.NaN(), 128, 32, "recall NaN:"},
		{0.8, 0.9, 0, 32, "k=0:"},
		{0.8, 0.9, 128, 0, "bits=0:"},
		{0.8, 0.9, 128, 33, "bits=33:"},
	} {
		if _, err := Tune(c.threshold, c.recall, c.k, c.bits); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Tune(%g, %g, %d, %d): error %v, want %q", c.threshold, c.recall, c.k, c.bits, err, c.want)
		}
	}
}

func TestTuneForAMeasureTunesForTheLeastJaccardSimilarity(t *testing.T) {
	for line, jaccard := range map[string]float64{
		"jaccard>=0.8": 0.8, "weighted-jaccard>=0.8": 0.8, "dice>=0.8": 0.8 / 1.2, "cosine>=0.8": 0.64, "cosine>=1": 1,
	} {
		th, err := measure.ParseThreshold(line)
		if err != nil {
			t.Fatal(err)
		}
		got, err := TuneFor(th, 0.95, 128, 8)
		want, wantErr := Tune(jaccard, 0.95, 128, 8)
		if got != want || err != nil || wantErr != nil {
			t.Errorf("%s: %v, %v; want %v, %v", line, got, err, want, wantErr)
		}
	}
	for _, line := range []string{"containment>=1", "max-containment>=0.9", "overlap>=1000"} {
		th, err := measure.ParseThreshold(line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = TuneFor(th, 0, 128, 32)
		var e *BoundError
		if !errors.Is(err, ErrNoBound) || !errors.As(err, &e) || e.Threshold != th || !strings.Contains(err.Error(), "find candidates exactly") {
			t.Errorf("%s: error %v", line, err)
		}
	}
}
