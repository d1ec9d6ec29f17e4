package minhash

import "github.com/alike-dev/alike/internal/hashing"

// Streams of keys, one for every use of a seed, so that no two uses share keys.
const (
	streamOPH uint64 = iota + 1
	streamFeature
	streamMultiplier
	streamOffset
	streamXOR
	streamComponent
	streamWeighted
)

// key returns the i-th key of a stream of a seed: SplitMix64 started at a mix of
// the two. Part of the format.
func key(seed, stream uint64, i int) uint64 {
	start := hashing.Mix(hashing.Mix(seed^hashing.Key0) + stream*hashing.Key1)
	return hashing.Mix(start + uint64(i+1)*0x9e3779b97f4a7c15)
}

func keys(seed, stream uint64, n int) []uint64 {
	ks := make([]uint64, n)
	for i := range ks {
		ks[i] = key(seed, stream, i)
	}
	return ks
}
