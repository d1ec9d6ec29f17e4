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
