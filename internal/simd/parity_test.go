package simd

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestParitiesWithinEqualTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var tile ParityTile
		var row [4]uint64
		for w := range row {
			row[w] = r.Uint64()
			for k := range tile[w] {
				tile[w][k] = row[w] ^ r.Uint64()&r.Uint64()&r.Uint64()
			}
		}
		n := rapid.IntRange(1, 64).Draw(t, "n")
		most := uint32(rapid.SampledFrom([]int{0, 20, 28, 30, 32, 34, 40, 256, 1<<32 - 1}).Draw(t, "most"))
		want := uint64(0)
		for k := range n {
			differ := uint32(0)
			for w := range row {
				differ += uint32(bits.OnesCount64(tile[w][k] ^ row[w]))
			}
			if differ <= most {
				want |= 1 << k
			}
		}
		if got := ParitiesWithin(&tile, n, &row, most); got != want {
			t.Fatalf("%d bitmaps within %d: %b, want %b", n, most, got, want)
		}
		if got := paritiesWithinGeneric(&tile, n, &row, most); got != want {
			t.Fatalf("%d bitmaps within %d in Go: %b, want %b", n, most, got, want)
		}
	})
}

func BenchmarkParitiesWithin(b *testing.B) {
	var tile ParityTile
	row := [4]uint64{1, 2, 3, 4}
	for name, f := range map[string]func(*ParityTile, int, *[4]uint64, uint32) uint64{"best": ParitiesWithin, "go": paritiesWithinGeneric} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(&tile, 64, &row, 84)
			}
		})
	}
}
