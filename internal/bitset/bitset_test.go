package bitset

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestASetHoldsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		b, want := New[uint32](n), map[uint32]bool{}
		number := rapid.Uint32Range(0, uint32(n-1))
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			i := number.Draw(t, "number")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				b.Add(i)
				want[i] = true
			case 1:
				b.AddShared(i)
				want[i] = true
			case 2:
				if b.AddNew(i) == want[i] {
					t.Fatalf("%d is new: %t", i, want[i])
				}
				want[i] = true
			case 3:
				b.Remove(i)
				delete(want, i)
			}
		}
		for i := range uint32(n + 100) {
			if b.Has(i) != want[i] {
				t.Errorf("%d: %t", i, b.Has(i))
			}
		}
		sorted := slices.Sorted(maps.Keys(want))
		if all := slices.Collect(b.All()); !slices.Equal(all, sorted) || b.Len() != len(sorted) {
			t.Errorf("%d numbers, %v, want %v", b.Len(), all, sorted)
		}
		if bound := b.Bound(); len(sorted) == 0 && bound != 0 || len(sorted) > 0 && bound != sorted[len(sorted)-1]+1 {
			t.Errorf("bound %d of %v", bound, sorted)
		}
		from, to, within := number.Draw(t, "from"), number.Draw(t, "to"), 0
		for _, i := range sorted {
			if from <= i && i < to {
				within++
			}
		}
		if got := b.LenWithin(from, to); got != within {
			t.Errorf("%d numbers from %d to %d, want %d", got, from, to, within)
		}
		if more := b.Grown(uint32(3 * n)); more.Len() != b.Len() || len(more)*64 < 3*n {
			t.Errorf("%d numbers in room for %d, want %d in %d", more.Len(), len(more)*64, b.Len(), 3*n)
		}
	})
}
