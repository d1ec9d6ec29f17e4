package simd

import (
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowWordFNV is the definition.
func slowWordFNV(src []byte, edges []uint16, n int, wide bool) (hashes []uint64) {
	for i := 0; i+n <= len(edges)/2; i++ {
		var f hash.Hash = fnv.New32a()
		if wide {
			f = fnv.New64a()
		}
		for w := i; w < i+n; w++ {
			for _, c := range src[edges[2*w]:edges[2*w+1]] {
				f.Write([]byte{c, 0})
			}
		}
		h := uint64(0)
		for _, c := range f.Sum(nil) {
			h = h<<8 | uint64(c)
		}
		hashes = append(hashes, h)
	}
	return hashes
}

func TestFNVOfShinglesEqualsTheDefinition(t *testing.T) {
	word := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9]{1,12}`), rapid.Just("a"), rapid.Just(strings.Repeat("x", 200)), rapid.Just("internationalisation"))
	var scratch WordFNVScratch
	rapid.Check(t, func(t *rapid.T) {
		separator := rapid.SampledFrom([]string{" ", ", ", "\n"}).Draw(t, "separator")
		src := []byte(strings.Join(rapid.SliceOfN(word, 1, 500).Draw(t, "words"), separator))
		var edges [EdgeBytes]uint16
		words, _, _ := WordEdges(&edges, src)
		if words == 0 {
			return
		}
		n := rapid.IntRange(1, min(words, 40)).Draw(t, "n")
		wide := rapid.Bool().Draw(t, "wide")
		want := slowWordFNV(src, edges[:2*words], n, wide)
		got := AppendWordFNV([]uint64{7, 8}, &scratch, src, edges[:2*words], n, wide)
		if !slices.Equal(got[2:], want) || got[0] != 7 || got[1] != 8 {
			t.Fatalf("n=%d, %q: %x, want %x", n, src, got, want)
		}
		twin := make([]uint64, len(want))
		wordFNVGeneric(twin, scratch.letters[:], scratch.starts[:], len(want), n, wide)
		if !slices.Equal(twin, want) {
			t.Fatalf("n=%d, %q: the twin gives %x, want %x", n, src, twin, want)
		}
	})
}

func BenchmarkWordFNV(b *testing.B) {
	src := []byte(strings.Repeat("the quick brown fox jumps over a lazy dog and internationalisation of things ", 40))
	var edges [EdgeBytes]uint16
	var scratch WordFNVScratch
	words, used, _ := WordEdges(&edges, src)
	var dst []uint64
	for _, wide := range []bool{false, true} {
		b.Run(fmt.Sprintf("wide=%v", wide), func(b *testing.B) {
			b.SetBytes(int64(used))
			for b.Loop() {
				dst = AppendWordFNV(dst[:0], &scratch, src, edges[:2*words], 3, wide)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/shingle")
		})
	}
}
