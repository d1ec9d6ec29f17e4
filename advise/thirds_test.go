package advise

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/places"
)

// TestThirdTextsAreAskedAtEachThreshold has a slow twin that looks at each threshold alone.
func TestThirdTextsAreAskedAtEachThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "pairs")
		a := asking{asked: make(asked, n), alike: make([]float64, n)}
		for i := range n {
			a.alike[i] = float64(rapid.IntRange(0, 1000).Draw(t, "similarity")) / 1000
		}
		for side := range 2 {
			for k := 1; k < n; k++ {
				if rapid.Bool().Draw(t, "asked") {
					a.asked[0][side] = append(a.asked[0][side], thirdText{uint32(k), rapid.Bool().Draw(t, "contradicts")})
				}
			}
		}
		for at := range steps + 1 {
			more := 0
			for _, side := range a.asked[0] {
				similar := slices.DeleteFunc(slices.Clone(side), func(x thirdText) bool { return stepOf(a.alike[x.pair]) < at })
				slices.SortStableFunc(similar, func(x, y thirdText) int { return cmp.Compare(a.alike[y.pair], a.alike[x.pair]) })
				for _, x := range similar[:min(len(similar), places.ThirdsMost)] {
					if more--; x.contradicts {
						more += 2
					}
				}
			}
			if want, got := more > 0 && at <= stepOf(a.alike[0]), a.takes(0, at); got != want {
				t.Fatalf("at %d: %v, want %v", at, got, want)
			}
		}
	})
}
