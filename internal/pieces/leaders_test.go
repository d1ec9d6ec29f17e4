package pieces

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// A set joins the first leader that it is similar to.
func TestSetsJoinTheFirstLeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold, err := measure.NewThreshold(measure.Jaccard, rapid.SampledFrom([]float64{0.2, 0.5, 0.75, 0.8, 1}).Draw(t, "threshold"))
		if err != nil {
			t.Fatal(err)
		}
		sets := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.Uint64Range(0, 12), 1, 9, rapid.ID), 1, 30).Draw(t, "sets")
		l := NewLeaders(threshold)
		for _, set := range sets {
			for i := range set {
				set[i] = hashing.Mix(set[i] + 1)
			}
			slices.Sort(set)
			l.Count(set)
		}
		var leaders []int
		for i, set := range sets {
			want := slices.IndexFunc(leaders, func(of int) bool {
				both := 0
				for _, word := range sets[of] {
					if slices.Contains(set, word) {
						both++
					}
				}
				return threshold.Reached(uint64(both), uint64(len(set)), uint64(len(sets[of])))
			})
			name, ok := l.Join(uint64(i), set)
			if ok != (want >= 0) || ok && name != uint64(leaders[want]) {
				t.Fatalf("set %d of %v joins %d, %v, want leader %d of %v", i, sets, name, ok, want, leaders)
			}
			if want < 0 {
				leaders = append(leaders, i)
			}
		}
	})
}
