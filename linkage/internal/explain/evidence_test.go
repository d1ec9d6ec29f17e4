package explain

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The choice is held against what is said of it: see Evidence.
func TestHalfOfTheEvidenceIsOfTheLeastSurePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unsure := rapid.SliceOfN(rapid.Float64Range(0, 20), 0, 200).Draw(t, "unsure")
		isLink := rapid.SliceOfN(rapid.Bool(), len(unsure), len(unsure)).Draw(t, "links")
		n := rapid.IntRange(1, 60).Draw(t, "n")
		chosen := choosePairs(unsure, isLink, n)
		if !slices.IsSortedFunc(chosen, func(i, j int) int { return cmp.Compare(unsure[i], unsure[j]) }) {
			t.Fatalf("the least sure pairs are not first: %v", chosen)
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(chosen))); len(distinct) != min(n, len(unsure)) || len(distinct) != len(chosen) {
			t.Fatalf("%d pairs of %d, %d asked for: %v", len(chosen), len(unsure), n, chosen)
		}
		sorted := slices.Sorted(slices.Values(unsure))
		links := 0
		for place, i := range chosen {
			if place < n/2 && unsure[i] != sorted[place] {
				t.Fatalf("pair %d is not among the %d that are least sure", i, n/2)
			}
			if place >= n/2 && isLink[i] {
				links++
			}
		}
		left := 0 // links that are not among the least sure
		for _, is := range isLink {
			if is {
				left++
			}
		}
		for _, i := range chosen[:min(n/2, len(chosen))] {
			if isLink[i] {
				left--
			}
		}
		if want := min(left, (n-n/2)/2); links < want {
			t.Fatalf("%d links in the other half, want %d at least", links, want)
		}
	})
}
