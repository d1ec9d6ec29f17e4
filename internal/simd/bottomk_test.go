package simd

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Vectors made by another implementation of XXH3.
func TestXXH3OfAWordIsThatOfItsBytes(t *testing.T) {
	for _, c := range []struct{ word, seed, want uint64 }{
		{0x0, 0x0, 0xc77b3abb6f87acd9},
		{0x0, 0x1, 0x9e51ad6d2f3e695c},
		{0x0, 0xfedcba9876543210, 0x473669f8bcc9fb42},
		{0x1, 0x0, 0x2fbc593564db792e},
		{0x2, 0x1, 0x1722dee50e00c79c},
		{0x123456789abcdef, 0x0, 0xb78df414284277a6},
		{0x123456789abcdef, 0x1, 0xd95750386d2d6e1d},
		{0x123456789abcdef, 0xfedcba9876543210, 0xa18be6cb2d16bcca},
		{0x8000000000000000, 0x1, 0xe9e81420d7ca0631},
	} {
		dst, _ := paddedDst(1)
		if XXH3Below(dst, []uint64{c.word}, XXH3Flip(c.seed), math.MaxUint64, math.MaxUint64); dst[0] != c.want {
			t.Errorf("%x with seed %x: %x, want %x", c.word, c.seed, dst[0], c.want)
		}
	}
}

func TestXXH3BelowEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 100).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		flip := rapid.Uint64().Draw(t, "flip")
		mask := rapid.SampledFrom([]uint64{math.MaxUint64, math.MaxUint32 << 32}).Draw(t, "mask")
		bound := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(t, "bound")
		if len(src) > 0 && rapid.Bool().Draw(t, "tie") {
			bound = xxh3(src[0], flip) & mask
		}
		var want []uint64
		for _, x := range src {
			if h := xxh3(x, flip) & mask; h < bound {
				want = append(want, h)
			}
		}
		dst, guard := paddedDst(len(src))
		if got := dst[:XXH3Below(dst, src, flip, mask, bound)]; !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		checkGuard(t, guard)
		if got := dst[:xxh3BelowGeneric(dst, src, flip, mask, bound)]; !slices.Equal(got, want) {
			t.Fatalf("the twin gives %x, want %x", got, want)
		}
	})
}

func TestBelowEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 100).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		shift := rapid.SampledFrom([]uint{0, 32, 7}).Draw(t, "shift")
		bound := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(t, "bound")
		if len(src) > 0 && rapid.Bool().Draw(t, "tie") {
			bound = src[0] << shift
		}
		var want []uint64
		for _, x := range src {
			if h := x << shift; h < bound {
				want = append(want, h)
			}
		}
		dst, guard := paddedDst(len(src))
		if got := dst[:Below(dst, src, shift, bound)]; !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		checkGuard(t, guard)
		if got := dst[:belowGeneric(dst, src, shift, bound)]; !slices.Equal(got, want) {
			t.Fatalf("the twin gives %x, want %x", got, want)
		}
	})
}

func BenchmarkXXH3Below(b *testing.B) {
	src := featureWords(512, 1)
	dst := make([]uint64, 512)
	for _, below := range []struct {
		name string
		f    func(dst, src []uint64, flip, mask, bound uint64) int
	}{{"best", XXH3Below}, {"Go", xxh3BelowGeneric}} {
		b.Run(below.name, func(b *testing.B) {
			for b.Loop() {
				below.f(dst, src, 1, math.MaxUint64, math.MaxUint64/50)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/word")
		})
	}
}
