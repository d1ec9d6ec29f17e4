package lsh

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEachPairFollowsTheBucketRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		limit := rapid.IntRange(-1, 30).Draw(t, "limit")
		bucket := make([]uint32, n)
		for i := range bucket {
			bucket[i] = uint32(3*i + 1)
		}
		var got, want [][2]uint32
		EachPair(bucket, limit, func(a, b uint32) { got = append(got, [2]uint32{a, b}) })
		for i, a := range bucket {
			for _, b := range bucket[i+1:] {
				if limit <= 0 || n <= limit || i < Hubs {
					want = append(want, [2]uint32{a, b})
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d members, limit %d: got %v, want %v", n, limit, got, want)
		}
		const base = 1<<40 + 1<<31 // halves of positions must not meet
		positions := make([]uint64, n)
		for i, doc := range bucket {
			positions[i] = base + uint64(doc)<<31
		}
		i := 0
		EachPair(positions, limit, func(a, b uint64) {
			if x := want[i]; a != base+uint64(x[0])<<31 || b != base+uint64(x[1])<<31 {
				t.Fatalf("pair %d of positions is %d, %d; want that of %v", i, a, b, x)
			}
			i++
		})
		if i != len(want) {
			t.Fatalf("%d pairs of positions, want %d", i, len(want))
		}
	})
}

func TestAnOverfullBucketCostsLinearly(t *testing.T) {
	bucket := make([]uint32, 100_000)
	for i := range bucket {
		bucket[i] = uint32(i)
	}
	pairs := 0
	EachPair(bucket, 1000, func(a, b uint32) { pairs++ })
	if pairs > Hubs*len(bucket) {
		t.Errorf("%d pairs of %d members", pairs, len(bucket))
	}
}
