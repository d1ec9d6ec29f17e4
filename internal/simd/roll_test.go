package simd

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// slowRoll is the definition.
func slowRoll(dst, enter, leave []uint64, h, base, baseN, xor, mul uint64) uint64 {
	for i, x := range enter {
		h = h*base + x - leave[i]*baseN
		dst[i] = hashing.Fold(h^xor, mul)
	}
	return h
}

func TestRollEqualsItsTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		words := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<64 - 1})), 2*n, 2*n)
		w := words.Draw(t, "words")
		k := rapid.SliceOfN(rapid.Uint64(), 5, 5).Draw(t, "h, base, baseN, xor, mul")
		want := make([]uint64, n)
		wantH := slowRoll(want, w[:n], w[n:], k[0], k[1], k[2], k[3], k[4])
		for name, f := range map[string]func(_, _, _ []uint64, _, _, _, _, _ uint64) uint64{"Roll": Roll, "rollGeneric": rollGeneric} {
			got := append(make([]uint64, n), 0xdead)
			h := f(got[:n], w[:n], w[n:], k[0], k[1], k[2], k[3], k[4])
			if h != wantH || !slices.Equal(got[:n], want) || got[n] != 0xdead {
				t.Fatalf("%s: got %x, h %x; want %x, h %x", name, got, h, want, wantH)
			}
		}
	})
}

func BenchmarkRoll(b *testing.B) {
	for _, n := range []int{40, 700} {
		w := featureWords(n+5, 1)
		dst := make([]uint64, n)
		for _, v := range []struct {
			name string
			f    func(_, _, _ []uint64, _, _, _, _, _ uint64) uint64
		}{{"best", Roll}, {"go", rollGeneric}, {"one step a word", slowRoll}} {
			b.Run(fmt.Sprintf("%d words/%s", n, v.name), func(b *testing.B) {
				var h uint64
				for b.Loop() {
					h = v.f(dst, w[5:], w, h, 3, 243, 5, 7)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/word")
			})
		}
	}
}
