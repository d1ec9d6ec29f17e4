package bitset

import (
	"testing"

	"pgregory.net/rapid"
)

func TestASetHoldsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		b, want := New(n), map[uint32]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "adds") {
			doc := rapid.Uint32Range(0, uint32(n-1)).Draw(t, "doc")
			if want[doc] = true; doc%2 == 0 {
				b.Add(doc)
			} else {
				b.AddShared(doc)
			}
		}
		for doc := range uint32(n) {
			if b.Has(doc) != want[doc] {
				t.Errorf("document %d: %t", doc, b.Has(doc))
			}
		}
	})
}
