package distinct

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFewCollectsWhatSortLeavesOrSaysThatItIsTooMuch(t *testing.T) {
	few := NewFew(5)
	rapid.Check(t, func(t *rapid.T) {
		features := rapid.SliceOf(rapid.Uint64Range(0, 9)).Draw(t, "features")
		few.Reset()
		cut := rapid.IntRange(0, len(features)).Draw(t, "cut")
		few.Add(features[:cut])
		few.Add(features[cut:])
		got, ok := few.Values()
		want := Sort(slices.Clone(features))
		if ok != (len(want) <= 5) || ok && !slices.Equal(Sort(slices.Clone(got)), want) {
			t.Errorf("features %d: got %d, %v, want %d", features, got, ok, want)
		}
	})
}

func TestFewTellsManyFeaturesByTheirFirstOnes(t *testing.T) {
	few := NewFew(40)
	random := rand.New(rand.NewPCG(8, 8))
	repeated := make([]uint64, 1000)
	for i := range repeated {
		repeated[i] = uint64(i%40) * 0x9e3779b97f4a7c15
	}
	many := slices.Clone(repeated)
	for i := range many {
		many[i] = random.Uint64()
	}
	for _, c := range []struct {
		features []uint64
		ok       bool
	}{{repeated, true}, {many, false}, {many[:41], false}, {many[:40], true}, {slices.Concat(repeated, many[:1]), false}} {
		few.Reset()
		few.Add(c.features)
		if values, ok := few.Values(); ok != c.ok || ok && len(values) != 40 {
			t.Errorf("%d features: %d values, %v", len(c.features), len(values), ok)
		}
	}
}

func TestFewForgetsWhenItsRoundsAreUsedUp(t *testing.T) {
	few := NewFew(5)
	few.Add([]uint64{1, 2})
	few.round = 1<<32 - 1
	few.Reset()
	few.Add([]uint64{2})
	if got, ok := few.Values(); !ok || !slices.Equal(got, []uint64{2}) {
		t.Errorf("got %d, %v", got, ok)
	}
}
