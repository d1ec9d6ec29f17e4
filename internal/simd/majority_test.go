package simd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// countedMajority is the definition of Majority: a counter for every bit.
func countedMajority(dst, hashes []uint64, tie uint64) {
	for w := range dst {
		dst[w] = 0
		for b := range 64 {
			count := 0
			for _, h := range hashes {
				count += int(hashing.Mix(h+uint64(w+1)*gamma) >> b & 1)
			}
			if 2*count > len(hashes) || 2*count == len(hashes) && tie>>b&1 == 1 {
				dst[w] |= 1 << b
			}
		}
	}
}

func TestMajorityEqualsItsTwinWithCounters(t *testing.T) {
	var scratch MajorityScratch
	for i := range scratch.planes {
		for j := range scratch.planes[i] {
			scratch.planes[i][j], scratch.waiting[i][j] = 0xdead, 0xbeef
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 700)).Draw(t, "n")
		hashes := featureWords(n, rapid.Uint64().Draw(t, "seed"))
		words := rapid.IntRange(1, 20).Draw(t, "words")
		if rapid.Bool().Draw(t, "same") { // counts of 0 and n
			for i := range hashes {
				hashes[i] = 5
			}
		}
		tie := rapid.Uint64().Draw(t, "tie")
		want := make([]uint64, words)
		countedMajority(want, hashes, tie)
		for name, majority := range majorities() {
			got := featureWords(words+8, 1)
			majority(got[:words], hashes, tie, &scratch)
			if !slices.Equal(got[:words], want) {
				t.Fatalf("%s: got %x, want %x", name, got[:words], want)
			}
			if !slices.Equal(got[words:], featureWords(words+8, 1)[words:]) {
				t.Fatalf("%s: written behind the destination", name)
			}
		}
	})
}

func TestMajorityOfManyElementsFillsThePlanesInOrder(t *testing.T) {
	var scratch MajorityScratch
	want, got := make([]uint64, 9), make([]uint64, 9)
	for _, n := range []int{1023, 1024, 4095, 4096, 4097, 20_000} {
		hashes := featureWords(n, 7)
		countedMajority(want, hashes, 0xf0f0)
		for name, majority := range majorities() {
			if majority(got, hashes, 0xf0f0, &scratch); !slices.Equal(got, want) {
				t.Errorf("%s, %d elements: got %x, want %x", name, n, got, want)
			}
		}
	}
}

func BenchmarkMajority(b *testing.B) {
	var scratch MajorityScratch
	for _, words := range []int{1, 4, 16, 64} {
		for _, n := range []int{10, 100, 10_000} {
			hashes, dst := featureWords(n, 1), make([]uint64, words)
			for name, majority := range majorities() {
				b.Run(fmt.Sprintf("bits=%d/n=%d/%s", 64*words, n, name), func(b *testing.B) {
					for b.Loop() {
						majority(dst, hashes, 0xaaaa, &scratch)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*words), "ns/word")
				})
			}
		}
	}
}

type majorityFunc = func(dst, hashes []uint64, tie uint64, scratch *MajorityScratch)

// checkedTie does for a variant what Majority does for all.
func checkedTie(f majorityFunc) majorityFunc {
	return func(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
		if len(hashes)%2 == 1 {
			tie = 0
		}
		f(dst, hashes, tie, scratch)
	}
}
