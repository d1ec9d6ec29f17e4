package minhash

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A set in blocks has the signature of the set in one piece, whether the blocks are
// many or few, empty or full of repeats.
func TestASetInBlocksHasTheSameSignature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{
			"oph", "oph k=5", "oph k=200 bits=8", "kmins k=20", "bottomk k=16", "bottomk k=16 bits=32",
		}).Draw(t, "scheme")
		s, err := ParseScheme(line)
		if err != nil {
			t.Fatal(err)
		}
		features := drawFeatures(t, rapid.SampledFrom([]int{10, 600, 9000}).Draw(t, "limit"))
		want, got := make([]uint32, s.Words()), make([]uint32, s.Words())
		s.NewSketcher().Sketch(want, features)
		size := rapid.IntRange(1, 3000).Draw(t, "block")
		sketcher, ok := s.NewSketcher().(SeqSketcher)
		if !ok {
			t.Fatalf("%s takes no blocks", line)
		}
		for range 2 { // nothing is left of the set before
			sketcher.SketchSeq(got, func(yield func([]uint64) bool) {
				if !yield(nil) {
					return
				}
				slices.Chunk(features, size)(yield)
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d features in blocks of %d: %x, want %x", line, len(features), size, got, want)
			}
		}
	})
}
