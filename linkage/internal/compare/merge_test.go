package compare

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMergedCandidatesAreInOrderWithTheirLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := [2]*Comparison{{Width: 2}, {Width: 2}}
		var want []Pair
		for a := range rapid.Uint32Range(0, 6).Draw(t, "records") {
			for b := range a {
				if side := rapid.IntRange(0, 2).Draw(t, "side"); side < 2 {
					c := of[side]
					c.Pairs = append(c.Pairs, Pair{A: b, B: a})
					want = append(want, Pair{A: b, B: a})
				}
			}
		}
		for _, c := range of {
			slices.SortFunc(c.Pairs, Order)
			for _, p := range c.Pairs {
				c.Levels, c.Wholes = append(c.Levels, Level(p.A), Level(p.B)), append(c.Wholes, float32(p.A*10+p.B))
			}
		}
		slices.SortFunc(want, Order)
		got := Merge(of[0], of[1])
		if !slices.Equal(got.Pairs, want) {
			t.Fatalf("merged %v, want %v", got.Pairs, want)
		}
		for i, p := range got.Pairs {
			if l := got.Of(i); l[0] != Level(p.A) || l[1] != Level(p.B) || got.Wholes[i] != float32(p.A*10+p.B) {
				t.Errorf("pair %v has levels %v, similarity %v", p, l, got.Wholes[i])
			}
		}
	})
}
