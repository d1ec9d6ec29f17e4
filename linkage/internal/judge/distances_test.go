package judge

import (
	"testing"

	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// closeAt returns a level of values that have this step of closeness, and no more.
func closeAt(step int) compare.Level {
	for l := range compare.Level(compare.Levels) {
		if compare.IsClose(l, step) && !compare.IsClose(l, step+1) {
			return l
		}
	}
	return 0
}

// TestDistancesTellByTheStepThatShowsIt has 1,000 pairs that are equal, but for some that have a step of closeness.
func TestDistancesTellByTheStepThatShowsIt(t *testing.T) {
	for _, test := range []struct {
		what   string
		step   int
		near   int     // best pairs that have the step
		others int     // and pairs that are not the best; of 1,000 too
		alike  float32 // what the others are; the best ones are 0.9
		tells  bool
		agrees int // step from which values agree; 0: none
	}{
		{"an eighth within a sixteenth of what is far", tellingStep, 130, 0, 0.5, true, 0},
		{"no more than twice what chance explains", tellingStep, 100, 0, 0.5, false, 0},
		{"a tenth a day apart", 9, 100, 0, 0.5, true, 0},
		{"others are as often a day apart", 9, 100, 100, 0.5, false, 0},
		{"others are further copies", 9, 100, 100, 0.9, true, 0},
		{"half are a day apart", 9, 500, 100, 0.5, true, 9},
		{"half are a day apart, and so are a quarter of the others", 9, 500, 250, 0.5, true, 0},
		{"too few to say so", closeness.Steps, leastProbed - 1, 0, 0.5, false, 0},
	} {
		c := &compare.Comparison{Width: 2}
		var best []int
		for i := range 2000 {
			near, alike := test.others, test.alike
			if i < 1000 {
				best, near, alike = append(best, i), test.near, 0.9
			}
			c.Wholes = append(c.Wholes, alike)
			l := compare.Equal
			if i%1000 < near {
				l = closeAt(test.step)
			}
			c.Pairs, c.Levels = append(c.Pairs, compare.Pair{A: uint32(i)}), append(c.Levels, l, compare.Equal)
		}
		d := distancesOf(c, best, 0)
		if got := d.tell(); got != test.tells {
			t.Errorf("%s: %v, want %v", test.what, got, test.tells)
		}
		if from := d.agreeing(); from != test.agrees {
			t.Errorf("%s: values agree from step %d on, want %d", test.what, from, test.agrees)
		}
	}
	if d := distancesOf(&compare.Comparison{Width: 2}, nil, 0); d.tell() {
		t.Error("no pair tells")
	}
}
