package weighing

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/measure"
)

// TestSimilarityIsWhatItsFormulaSays holds integers against sums of floats.
func TestSimilarityIsWhatItsFormulaSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var both, either, squares, sizeA, sizeB float64
		var common, massA, massB [2]uint64
		scales := []Scale{{measure.Cosine}, {measure.WeightedJaccard}}
		for _, weight := range rapid.SliceOfN(rapid.Uint16Range(1, math.MaxUint16), 12, 12).Draw(t, "weights") {
			w, inA, inB := float64(weight), rapid.Bool().Draw(t, "in a"), rapid.Bool().Draw(t, "in b")
			for i, s := range scales {
				if inA {
					massA[i] += s.Mass(weight)
				}
				if inB {
					massB[i] += s.Mass(weight)
				}
				if inA && inB {
					common[i] += s.Mass(weight)
				}
			}
			if inA {
				sizeA += w * w
			}
			if inB {
				sizeB += w * w
			}
			if inA && inB {
				both, squares = both+w, squares+w*w
			}
			if inA || inB {
				either += w
			}
		}
		if both == 0 {
			return
		}
		for i, want := range []float64{squares / math.Sqrt(sizeA*sizeB), both / either} {
			if got := scales[i].Similarity(common[i], massA[i], massB[i]); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v is %v, want %v", scales[i].Measure, got, want)
			}
		}
	})
}
