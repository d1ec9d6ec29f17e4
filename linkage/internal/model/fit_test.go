package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/roomtest"
)

// The long loops within a stage end too: those over the steps of the fit, the rounds of messages and
// the candidates.
func TestTheFitOfAModelEndsWhenItIsCancelled(t *testing.T) {
	c := &compare.Comparison{Left: 3, Right: 3, Width: 2}
	for i := range uint32(3) {
		for j := range uint32(3) {
			c.Pairs = append(c.Pairs, compare.Pair{A: i, B: j})
			l := compare.Level(1)
			if i == j {
				l = compare.Equal
			}
			c.Levels = append(c.Levels, l, l)
			c.Wholes = append(c.Wholes, float32(l)/float32(compare.Equal))
		}
	}
	o, g := &Options{Once: Once{true, true}, Share: []float64{1}}, Graph{Pairs: c.Pairs, Left: 3, Right: 3}
	ran := roomtest.NewEndsAt(1 << 40)
	clearest(ran, c, o)
	if steps := ran.Asked.Load(); steps < 2*firstRounds {
		t.Fatalf("the fit asked %d times only", steps)
	}
	for n := range ran.Asked.Load() {
		ctx := roomtest.NewEndsAt(n + 1)
		clearest(ctx, c, o)
		// Each start may ask once, and so may each of its two kinds of messages in the step under way.
		if more := ctx.Asked.Load() - n; more > int64(3*len(starts)+3) {
			t.Errorf("cancelled at %d: %d more steps", n, more)
		}
	}
	ended, two := newExclusive(roomtest.NewEndsAt(3), g, o.Once), newExclusive(t.Context(), g, o.Once)
	two.rounds = 2
	for _, e := range []*exclusive{ended, two} {
		e.marginals(make([]float64, len(c.Pairs)), nil, slices.Repeat([]float64{1}, len(c.Pairs)))
	}
	if !slices.Equal(ended.back, two.back) {
		t.Errorf("cancelled in the third round: messages %v, after two rounds %v", ended.back, two.back)
	}
}

// TestMoreSimilarityOfTextsThatDifferNeverCountsAgainstAMatch has evidence that falls and rises anyhow, of a column or of records as a
// whole.
func TestMoreSimilarityOfTextsThatDifferNeverCountsAgainstAMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(of *rapid.Generator[float64], name string) []float64 {
			return rapid.SliceOfN(of, compare.Levels, compare.Levels).Draw(t, name)
		}
		before, curve := draw(rapid.Float64Range(-9, 9), "evidence"), draw(rapid.Float64Range(0, 50), "curve")
		runs := compare.Runs(rapid.Bool().Draw(t, "whole"))
		after := slices.Clone(before)
		ofTexts.raise(runs, after, curve)
		free, changed := map[int]bool{}, 0.0
		for l := range compare.Levels {
			free[l] = true
		}
		for _, run := range runs {
			for l := int(run.From); l < int(run.Texts); l++ {
				free[l] = false
				if l > int(run.From) && after[l] < after[l-1]-1e-9 {
					t.Fatalf("level %d has the evidence %v, and the one below it %v", l, after[l], after[l-1])
				}
			}
		}
		for l := range after {
			if free[l] && after[l] != before[l] {
				t.Fatalf("level %d is of no text that differs, and was changed from %v to %v", l, before[l], after[l])
			}
			changed += (after[l] - before[l]) * (curve[l] + ridge)
		}
		if math.Abs(changed) > 1e-6 {
			t.Fatalf("the weighted sum of the evidence changed by %v", changed)
		}
	})
}
