package model

import (
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// TestWhatTellsMatchesApartIsADoubt has matches of one table, and of two, which agree in most columns.
func TestWhatTellsMatchesApartIsADoubt(t *testing.T) {
	for name, c := range map[string]struct {
		left          left
		alone, across bool
	}{
		"nothing is left to chance":                 {left{agreeing: 4}, false, false},
		"a key":                                     {left{agreeing: 4, naming: 1, share: 0.3}, false, false},
		"a number, and a day on which few agree":    {left{agreeing: 4, naming: 1, seldom: 0.8, share: 0.3}, true, false},
		"no two have one house, or one of a couple": {left{agreeing: 4, naming: 0.3, share: 0.1, below: []int{1}}, true, true},
	} {
		for right, want := range map[int]bool{0: c.alone, 10: c.across} {
			s := &Surroundings{}
			if right > 0 {
				s.Within = &compare.Comparison{}
			}
			if got := s.doubted(&compare.Comparison{Right: right}, &c.left); got != want {
				t.Errorf("%s, %d records on the right: doubted %v, want %v", name, right, got, want)
			}
		}
	}
}
