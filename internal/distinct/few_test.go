package distinct

import (
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
