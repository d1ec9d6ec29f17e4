package linkage

import (
	"slices"
	"testing"
)

func TestLinksThatContradictEachOtherMayBeWrong(t *testing.T) {
	triangle := []pair{{0, 1}, {0, 2}, {1, 2}}
	for _, tt := range []struct {
		name      string
		pairs     []pair
		connected float64
		kept      []int
	}{
		{"none", nil, 0, nil},
		{"a group in which all are linked", triangle, 3, []int{0, 1, 2}},
		{"a chain", []pair{{0, 1}, {1, 2}}, 3, []int{0}},
		{"two groups and a link between them", append(slices.Clone(triangle), pair{3, 4}, pair{2, 5}, pair{3, 5}, pair{4, 5}), 15, []int{0, 1, 2, 3, 5, 6}},
		{"a link apart", append(slices.Clone(triangle), pair{6, 7}), 4, []int{0, 1, 2, 3}},
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
