package minhash

import (
	"slices"
	"testing"
)

// One feature a million times over used to be thrown in every round.
func TestASetRepeatedManyTimesHasItsOwnSketch(t *testing.T) {
	for _, scheme := range []string{"oph", "oph k=100 bits=8"} {
		s, err := ParseScheme(scheme)
		if err != nil {
			t.Fatal(err)
		}
		sketcher := s.NewSketcher()
		for _, distinct := range []int{1, 3, 60, 500, 3000} {
			var set []uint64
			for i := range uint64(distinct) {
				set = append(set, i*0x9e3779b97f4a7c15)
			}
			once, often := make([]uint32, s.K()), make([]uint32, s.K())
			sketcher.Sketch(once, set)
			sketcher.Sketch(often, slices.Repeat(set, 20_000/distinct))
			if !slices.Equal(once, often) {
				t.Errorf("%s: %d features repeated have another sketch", s, distinct)
			}
		}
	}
}

func BenchmarkOPHOfOneFeatureAMillionTimes(b *testing.B) {
	sketcher, dst := Default().NewSketcher(), make([]uint32, Default().K())
	features := slices.Repeat([]uint64{42}, 1_000_000)
	b.SetBytes(8 * int64(len(features)))
	for b.Loop() {
		sketcher.Sketch(dst, features)
	}
}
