package verify

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

func TestOutlinesRuleOutNoPairThatReachesTheThreshold(t *testing.T) {
	feature := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 300))
	ruledOut := 0
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom([]measure.Measure{measure.Jaccard, measure.Cosine, measure.Dice, measure.MaxContainment}).Draw(t, "measure")
		threshold, err := measure.NewThreshold(of, float64(rapid.IntRange(1, 100).Draw(t, "percent"))/100)
		if err != nil {
			t.Fatal(err)
		}
		o := outlines{words: rapid.IntRange(1, 60).Draw(t, "words"), sizes: make([]outlined, 2)}
		o.bits = make([]uint64, 2*o.words)
		if rapid.Bool().Draw(t, "sets are kept") {
			o.sets = make([][]uint64, 2)
		}
		var sets [2][]uint64
		shared := rapid.SliceOfN(feature, 0, 100).Draw(t, "shared")
		for doc := range sets {
			features := slices.Concat(shared, rapid.SliceOfN(feature, 0, 100).Draw(t, "features"))
			sets[doc] = distinct.Sort(slices.Clone(features))
			if o.sets != nil {
				features = sets[doc]
			}
			o.add(uint32(doc), features)
		}
		common := simjoin.Intersection(sets[0], sets[1])
		reached := threshold.Reached(uint64(common), uint64(len(sets[0])), uint64(len(sets[1])))
		may := o.mayReach(threshold, graph.Pair{A: 0, B: 1})
		if reached && !may {
			t.Fatalf("%d of %d and %d features in common reach the threshold, and are ruled out", common, len(sets[0]), len(sets[1]))
		}
		if !may {
			ruledOut++
		}
	})
	if ruledOut == 0 {
		t.Error("outlines rule nothing out")
	}
}
