package simd

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDigestEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1<<32 - 1, 1<<64 - 1})), 0, 50).Draw(t, "words")
		sum, products := Digest(words)
		if s, p := digestGeneric(words); s != sum || p != products {
			t.Fatalf("%x, %x; want %x, %x", sum, products, s, p)
		}
	})
}

func BenchmarkDigest(b *testing.B) {
	words := featureWords(2000, 1)
	for _, v := range []struct {
		name string
		f    func([]uint64) (uint64, uint64)
	}{{"best", Digest}, {"go", digestGeneric}} {
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				v.f(words)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(words)), "ns/word")
		})
	}
}
