package decide

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

func TestLinksThatContradictEachOtherMayBeWrong(t *testing.T) {
	triangle := []compare.Pair{{A: 0, B: 1}, {A: 0, B: 2}, {A: 1, B: 2}}
	for _, tt := range []struct {
		name      string
		pairs     []compare.Pair
		connected float64
		kept      []int
	}{
		{"none", nil, 0, nil},
		{"a group in which all are linked", triangle, 3, []int{0, 1, 2}},
		{"a chain", []compare.Pair{{A: 0, B: 1}, {A: 1, B: 2}}, 3, []int{0}},
		{"two groups and a link between them", append(slices.Clone(triangle), compare.Pair{A: 3, B: 4}, compare.Pair{A: 2, B: 5}, compare.Pair{A: 3, B: 5}, compare.Pair{A: 4, B: 5}), 15, []int{0, 1, 2, 3, 5, 6}},
		{"a link apart", append(slices.Clone(triangle), compare.Pair{A: 6, B: 7}), 4, []int{0, 1, 2, 3}},
	} {
		var links []int
		for i := range tt.pairs {
			links = append(links, i)
		}
		got := transitivityOf(8, tt.pairs, links)
		if got.connected != tt.connected || !slices.Equal(got.kept, tt.kept) {
			t.Errorf("%s: %v pairs are connected, kept %v; want %v, %v", tt.name, got.connected, got.kept, tt.connected, tt.kept)
		}
	}
}
