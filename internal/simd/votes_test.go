package simd

import (
	"testing"

	"pgregory.net/rapid"
)

func TestVotesAreThoseOfACounterABit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 5).Draw(t, "width")
		n := rapid.SampledFrom([]int{0, 1, 7, 8, 9, 64, 65, 300}).Draw(t, "rows")
		// Words of few or many ones, so that counts come near half and near all.
		ones := rapid.SampledFrom([]uint64{0, ^uint64(0), 0xff00ff00ff00ff00}).Draw(t, "ones")
		rows := make([]uint64, (n+VoteBatch-1)/VoteBatch*VoteBatch*width)
		counts := make([]int, 64*width)
		for i := range n * width {
			rows[i] = rapid.Uint64().Draw(t, "word") | ones&rapid.Uint64().Draw(t, "mask")
			for b := range 64 {
				counts[i%width*64+b] += int(rows[i] >> b & 1)
			}
		}
		v := NewVotes(width)
		v.Add(make([]uint64, VoteBatch*width))
		v.Reset()
		cut := rapid.IntRange(0, len(rows)/(VoteBatch*width)).Draw(t, "cut") * VoteBatch * width
		v.Add(rows[:cut])
		v.Add(rows[cut:])
		for w := range width {
			got := v.Majority(w, uint64(n))
			for b := range 64 {
				if want := counts[w*64+b] > n/2; want != (got>>b&1 == 1) {
					t.Fatalf("bit %d of word %d has %d votes of %d: %v", b, w, counts[w*64+b], n, !want)
				}
			}
		}
	})
}
