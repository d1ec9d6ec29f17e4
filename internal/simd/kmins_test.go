package simd

import (
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

func TestEveryLowerAffineEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Uint32()
		k := AffineLanes * rapid.IntRange(1, 20).Draw(t, "groups")
		src := rapid.SliceOfN(word, 1, 40).Draw(t, "src")
		mul, add, low := make([]uint32, k), make([]uint32, k), make([]uint32, k)
		seed := rapid.Uint64().Draw(t, "seed")
		for i := range k {
			h := hashing.Mix(seed + uint64(i))
			mul[i], add[i], low[i] = uint32(h), uint32(h>>32), uint32(hashing.Mix(h))
		}
		want := slices.Clone(low)
		for i := range want {
			for _, x := range src {
				want[i] = min(want[i], mul[i]*x+add[i])
			}
		}
		for _, v := range availableAffine() {
			got := slices.Clone(low)
			v.run(got, mul, add, src)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: got %x, want %x", v.name, got, want)
			}
		}
	})
}

func TestLowerAffineOfNothingChangesNothing(t *testing.T) {
	low := slices.Repeat([]uint32{7}, AffineLanes)
	LowerAffine(low, make([]uint32, AffineLanes), make([]uint32, AffineLanes), nil)
	LowerAffine(nil, nil, nil, []uint32{1})
	if low[0] != 7 {
		t.Errorf("low[0] = %d, want 7", low[0])
	}
}

func TestMixHighEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 100).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		key := rapid.Uint64().Draw(t, "key")
		got, want := make([]uint32, len(src)+1), make([]uint32, len(src)+1)
		MixHigh(got, src, key)
		mixHighGeneric(want, src, key)
		if !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}

func BenchmarkKMinsKernels(b *testing.B) {
	features := featureWords(512, 1)
	src := make([]uint32, len(features))
	mul, add, low := make([]uint32, 128), make([]uint32, 128), make([]uint32, 128)
	for i := range mul {
		mul[i], add[i], low[i] = uint32(features[i])|1, uint32(features[i]>>32), 1<<32-1
	}
	for _, v := range availableAffine() {
		b.Run("LowerAffine/k=128/"+v.name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(src)))
			for b.Loop() {
				v.run(low, mul, add, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/feature")
		})
	}
	b.Run("MixHigh", func(b *testing.B) {
		b.SetBytes(int64(8 * len(src)))
		for b.Loop() {
			MixHigh(src, features, 1)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/feature")
	})
}
