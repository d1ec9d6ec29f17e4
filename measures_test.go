package alike_test

import (
	"math"
	"testing"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
)

func TestAComparisonHasEveryMeasure(t *testing.T) {
	a, b := []byte("one two three four"), []byte("three four five six seven eight one one")
	c, err := alike.Compare(a, b, shingle.Options{N: 1})
	if err != nil {
		t.Fatal(err)
	}
	// 3 of 4 and 7 words are common.
	for m, want := range map[measure.Measure]float64{
		measure.Jaccard: 3.0 / 8, measure.Containment: 3.0 / 4, measure.MaxContainment: 3.0 / 4,
		measure.Cosine: 3 / math.Sqrt(28), measure.Dice: 6.0 / 11, measure.Overlap: 3,
	} {
		if got := c.Similarity(m); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
	}
	if aInB, bInA := c.Containments(); aInB != 3.0/4 || bInA != 3.0/7 {
		t.Errorf("%v of a in b, %v of b in a", aInB, bInA)
	}
	// Of 4 and 8 words, with their repeats.
	if c, err = alike.Compare(a, b, shingle.Options{N: 1, Multiset: true}); err != nil || c.Similarity(measure.WeightedJaccard) != 3.0/9 {
		t.Errorf("%v, %v", c, err)
	}
}

func TestTuningForAMeasureIsThatForItsLeastJaccard(t *testing.T) {
	for m, least := range map[measure.Measure]float64{
		measure.Jaccard: 0.8, measure.WeightedJaccard: 0.8, measure.Dice: 0.8 / 1.2, measure.Cosine: 0.8 * 0.8,
	} {
		limit, err := measure.NewThreshold(m, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		got, err := alike.TuneFor(limit, 0.99, 128, 32)
		if err != nil {
			t.Fatal(err)
		}
		want, err := lsh.Tune(least, 0.99, 128, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bands != want.Bands || got.Rows != want.Rows || got.Threshold != 0.8 || got.ExpectedRecall < 0.99 {
			t.Errorf("%v: %+v, want %v", m, got, want)
		}
	}
}
