package sorting

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTheOrderIsThatOfPackageSlices(t *testing.T) {
	type element struct{ key, place int }
	compare := func(a, b element) int { return cmp.Compare(a.key, b.key) }
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(1, 100).Draw(t, "keys")
		var all []element
		for i := range rapid.IntRange(0, 3000).Draw(t, "n") {
			all = append(all, element{i * 7919 % (keys + i%3), i})
		}
		for name, sorts := range map[string][2]func([]element, func(a, b element) int){
			"func": {Func[element], slices.SortFunc[[]element]}, "stable": {Stable[element], slices.SortStableFunc[[]element]},
		} {
			got, want := slices.Clone(all), slices.Clone(all)
			sorts[0](got, compare)
			sorts[1](want, compare)
			if name == "func" && !slices.Equal(Sorted(slices.Values(all), compare), want) {
				t.Fatal("Sorted sorts otherwise")
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, and slices has %v", name, got, want)
			}
		}
	})
}
