package candidates

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// TestWhatCannotReachAThresholdReachesNothing holds the bound against all pairs.
func TestWhatCannotReachAThresholdReachesNothing(t *testing.T) {
	ruledOut := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *simjoin.Vectors {
			all := new(simjoin.Vectors)
			for range rapid.IntRange(1, 5).Draw(t, name) {
				features := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 200), 0, 6, rapid.ID[uint32]).Draw(t, "features")
				slices.Sort(features)
				weights := rapid.SliceOfN(rapid.Uint32Range(1, 9), len(features), len(features)).Draw(t, "weights")
				if err := all.Append(features, weights); err != nil {
					t.Fatal(err)
				}
			}
			return all
		}
		others, searched := draw("others"), draw("searched")
		for _, m := range []measure.Measure{measure.Cosine, measure.WeightedJaccard} {
			threshold, err := measure.NewThreshold(m, rapid.SampledFrom([]float64{0.1, 0.5, 0.8, 1}).Draw(t, "threshold"))
			if err != nil {
				t.Fatal(err)
			}
			w, err := newWithin(StoreOf(others), threshold)
			if err != nil {
				t.Fatal(err)
			}
			for i := range searched.Len() {
				v := searched.At(i)
				if w.reaches(v) {
					continue
				}
				ruledOut++
				for k := range others.Len() {
					o := others.At(k)
					if threshold.Reached(simjoin.Overlap(v, o, m), v.Size(m), o.Size(m)) {
						t.Errorf("%v reaches %v by %v, and is ruled out", v, o, threshold)
					}
				}
			}
		}
	})
	if ruledOut == 0 {
		t.Error("nothing is ruled out: no test")
	}
}
