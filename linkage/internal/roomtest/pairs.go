package roomtest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// DrawPairs draws the distinct candidates of few records: of five left and four right ones, or of the five of one
// table.
func DrawPairs(t *rapid.T, one bool) (pairs []compare.Pair) {
	for range rapid.IntRange(0, 10).Draw(t, "edges") {
		p := compare.Pair{A: uint32(rapid.IntRange(0, 4).Draw(t, "a")), B: uint32(rapid.IntRange(0, 3).Draw(t, "b"))}
		if one && p.A <= p.B {
			continue
		}
		if one {
			p.A, p.B = p.B, p.A
		}
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, compare.Order)
	return slices.Compact(pairs)
}
