package verify

import (
	"testing"

	"pgregory.net/rapid"
)

func TestOutlinesNeverSayTooLittle(t *testing.T) {
	element := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 300))
	ruledOut := 0
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfNDistinct(element, 0, 200, rapid.ID[uint64]).Draw(t, "a")
		b := rapid.SliceOfNDistinct(element, 0, 200, rapid.ID[uint64]).Draw(t, "b")
		o := outlinesFor(rapid.IntRange(0, 300).Draw(t, "mean"))
		common := 0
		has := map[uint64]bool{}
		for _, v := range a {
			has[v] = true
		}
		for _, v := range b {
			if has[v] {
				common++
			}
		}
		most := mostCommon(made{a, o.of(a)}, made{b, o.of(b)})
		if most < common || most > min(len(a), len(b)) {
			t.Fatalf("%d elements in common, at most %d", common, most)
		}
		if most < min(len(a), len(b)) {
			ruledOut++
		}
	})
	if ruledOut == 0 {
		t.Error("outlines rule nothing out")
	}
}
