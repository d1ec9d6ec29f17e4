package model

import (
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// TestANotionThatTiesTogetherWhatItPartsIsNone has matches among five records, and which of them are matches by a narrower notion.
func TestANotionThatTiesTogetherWhatItPartsIsNone(t *testing.T) {
	all := []compare.Pair{{A: 0, B: 1}, {A: 1, B: 2}, {A: 0, B: 2}, {A: 2, B: 3}, {A: 3, B: 4}}
	for name, of := range map[string]struct {
		likely []float64
		want   float64
	}{
		"two sizes":  {[]float64{1, 1, 1, 0, 1}, 0},
		"none":       {make([]float64, 5), 0},
		"a chain":    {[]float64{1, 1, 0, 0, 1}, 0.25},
		"all by one": {[]float64{0, 1, 1, 1, 0}, 0.25}, // 3 and 4 are not tied
	} {
		c := &compare.Comparison{Pairs: all, Left: 5}
		if got := parted(c, of.likely); got != of.want {
			t.Errorf("%s: %.2f of the matches are parted, want %.2f", name, got, of.want)
		}
	}
}

// TestMatchesAreFollowedByWordsOnlyIfTheseHold has things of six records. Either there are two of each size, or one record names
// no size, and ties the others together.
func TestMatchesAreFollowedByWordsOnlyIfTheseHold(t *testing.T) {
	for _, of := range []struct {
		same func(a, b uint32) bool
		want Dispute
	}{
		{func(a, b uint32) bool { return a/2 == b/2 }, OverWider},
		{func(a, b uint32) bool { return a%6 == 0 }, OverAll},
	} {
		c := &compare.Comparison{Width: 2, Left: 240}
		f := &Fitted{Model: NewModel(c, []float64{1})}
		for a := range uint32(c.Left) {
			for b := a + 1; b/6 == a/6; b++ {
				c.Pairs, c.Levels = append(c.Pairs, compare.Pair{A: a, B: b}), append(c.Levels, compare.Near, compare.Missing)
				c.Wholes, f.Probability = append(c.Wholes, 0.8), append(f.Probability, 0.9)
			}
		}
		exchanged := func(_ int, pairs []compare.Pair) (is []bool, there int) {
			for _, p := range pairs {
				is = append(is, !of.same(p.A, p.B))
			}
			return is, len(pairs)
		}
		before := f.Model
		f.followUnexchanged(t.Context(), c, &Options{Around: &Surroundings{Worded: []bool{true}, Exchanged: exchanged}})
		if f.Dispute != of.want || (f.Model == before) != (of.want == OverAll) {
			t.Errorf("dispute %v, want %v; the fit stays: %v", f.Dispute, of.want, f.Model == before)
		}
	}
}
