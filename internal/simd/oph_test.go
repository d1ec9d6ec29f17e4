package simd

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// featureWords returns n random words.
func featureWords(n int, seed uint64) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = hashing.Mix(seed + uint64(i))
	}
	return w
}

// paddedDst returns a destination for n hashes and the words that must stay intact
// behind it.
func paddedDst(n int) (dst, guard []uint64) {
	size := (n + 7) &^ 7
	all := make([]uint64, size+8)
	for i := range all {
		all[i] = 0xdead
	}
	return all[:size:size], all[size:]
}

func checkGuard(t *rapid.T, guard []uint64) {
	for _, g := range guard {
		if g != 0xdead {
			t.Fatal("written behind the destination")
		}
	}
}

func TestMixBelowEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 100).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		key := rapid.Uint64().Draw(t, "key")
		k := rapid.Uint64Range(1, 70000).Draw(t, "k")
		bound := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64})).Draw(t, "bound")
		if len(src) > 0 && rapid.Bool().Draw(t, "tie") {
			bound = hashing.Mix(src[0]^key) * k
		}
		dst, guard := paddedDst(len(src))
		want := make([]uint64, len(src))
		got := dst[:MixBelow(dst, src, key, k, bound)]
		want = want[:mixBelowGeneric(want, src, key, k, bound)]
		if !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		checkGuard(t, guard)
	})
}

func TestPassOpenEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.Uint64(), 0, 50).Draw(t, "src")
		var open [OpenWords]uint64
		copy(open[:], rapid.SliceOfN(rapid.Uint64(), OpenWords, OpenWords).Draw(t, "open"))
		var want []uint64
		for _, x := range src {
			if b := x >> 55; open[b/64]>>(b%64)&1 != 0 {
				want = append(want, x)
			}
		}
		for name, f := range map[string]func(dst, src []uint64, open *[OpenWords]uint64) int{"PassOpen": PassOpen, "passOpenGeneric": passOpenGeneric} {
			dst := make([]uint64, len(src)+7)
			if got := dst[:f(dst, src, &open)]; !slices.Equal(got, want) {
				t.Fatalf("%s: %x, want %x", name, got, want)
			}
		}
	})
}

func TestMixOpenEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 100).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		key := rapid.Uint64().Draw(t, "key")
		k := rapid.Uint64Range(1, MaxOpen).Draw(t, "k")
		var open [OpenWords]uint64
		for i := range open {
			open[i] = rapid.Uint64().Draw(t, "open")
		}
		dst, guard := paddedDst(len(src))
		want := make([]uint64, len(src))
		got := dst[:MixOpen(dst, src, key, k, &open)]
		want = want[:mixOpenGeneric(want, src, key, k, &open)]
		if !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		checkGuard(t, guard)
	})
}

func TestMixRoundsEqualsItsTwinAndTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := featureWords(rapid.IntRange(0, 40).Draw(t, "n"), rapid.Uint64().Draw(t, "seed"))
		keys := featureWords(rapid.IntRange(0, 30).Draw(t, "keys"), rapid.Uint64().Draw(t, "seed of keys"))
		log := rapid.UintRange(5, 9).Draw(t, "log")
		first := rapid.IntRange(0, 1<<log-len(keys)).Draw(t, "first")
		var open [OpenWords]uint64
		for i := range open {
			open[i] = rapid.Uint64().Draw(t, "open")
		}
		var want [][2]uint64
		for r, key := range keys {
			for _, x := range src {
				h := hashing.Mix(x ^ key)
				if b := h >> (64 - log); open[b/64]>>(b%64)&1 != 0 {
					want = append(want, [2]uint64{b, h<<log>>log | uint64(first+r)<<(64-log)})
				}
			}
		}
		order := func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) }
		slices.SortFunc(want, order)
		for name, kernel := range map[string]func(dst, bins []uint64, p *pairs) int{"mixPairs": mixPairs, "mixPairsGeneric": mixPairsGeneric} {
			dst, guard := paddedDst(len(src)*len(keys) + 7)
			bins, guardOfBins := paddedDst(len(src)*len(keys) + 7)
			n := 0
			if p := roundPairs(src, keys, first, log, &open); len(want) > 0 {
				n = kernel(dst, bins, &p)
			}
			var got [][2]uint64
			for i := range n {
				got = append(got, [2]uint64{bins[i], dst[i]})
			}
			slices.SortFunc(got, order)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: got %x, want %x", name, got, want)
			}
			checkGuard(t, guard)
			checkGuard(t, guardOfBins)
		}
	})
}

func TestEmptyBinsEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins := rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1}), 0, 300).Draw(t, "bins")
		if rapid.Bool().Draw(t, "whole words") {
			bins = bins[:len(bins)/64*64]
		}
		got, want := [OpenWords]uint64{5, 6, 7, 8, 9, 10, 11, 12}, [OpenWords]uint64{}
		count := 0
		for i, b := range bins {
			if b == math.MaxUint64 {
				want[i/64] |= 1 << (i % 64)
				count++
			}
		}
		twin := got
		if n := EmptyBins(got[:], bins); n != count || got != want {
			t.Fatalf("%x: %d, %x; want %d, %x", bins, n, got, count, want)
		}
		if n := emptyBinsGeneric(twin[:], bins); n != count || twin != want {
			t.Fatalf("%x: the twin gives %d, %x; want %d, %x", bins, n, twin, count, want)
		}
	})
}

func BenchmarkOPHKernels(b *testing.B) {
	src := featureWords(512, 1)
	dst := make([]uint64, 512)
	open := [OpenWords]uint64{1 << 3, 1 << 60}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(src)))
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(src)), "ns/feature")
		})
	}
	for _, bound := range []uint64{math.MaxUint64, math.MaxUint64 / 4, math.MaxUint64 / 50} {
		run(fmt.Sprintf("MixBelow/bound=%.2f", float64(bound)/math.MaxUint64), func() { MixBelow(dst, src, 1, 128, bound) })
		run(fmt.Sprintf("MixBelow/bound=%.2f/Go", float64(bound)/math.MaxUint64), func() { mixBelowGeneric(dst, src, 1, 128, bound) })
	}
	run("MixOpen", func() { MixOpen(dst, src, 1, 128, &open) })
	run("MixOpen/Go", func() { mixOpenGeneric(dst, src, 1, 128, &open) })
}
