package contam

import (
	"math/bits"
	"slices"
)

// filter tells most keys that are not in the index by two sets of bits: a small one that stays in the cache of a core, by
// the first bits of a key, and for what passes it a larger one, by others.
type filter struct{ small, large bits1 }

// bits1 is a set of the hashes of keys.
type bits1 struct {
	words []uint64 // a power of two
	shift int
}

// smallBits is the size of the small set, 512 KiB; largeBits the least number of bits for a key of the large one.
const (
	smallBits = 22
	largeBits = 16
)

func newFilter(keys []uint64) filter {
	size := func(n int) bits1 { return bits1{make([]uint64, 1<<(n-6)), 64 - n + 6} }
	n := max(bits.Len(uint(len(keys)*largeBits)), 6)
	f := filter{size(min(n, smallBits)), size(n)}
	for _, key := range keys {
		f.small.add(key)
		f.large.add(other(key))
	}
	return f
}

// other mixes a key for the large set.
func other(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

func (b bits1) add(hash uint64) {
	b.words[hash>>(b.shift&63)&uint64(len(b.words)-1)] |= 1 << (hash & 63)
}

// has returns 1 if the set has a hash, otherwise 0.
func (b bits1) has(hash uint64) int {
	return int(b.words[hash>>(b.shift&63)&uint64(len(b.words)-1)] >> (hash & 63) & 1)
}

// pick appends the places of keys that may be in the index. It has no branches to predict, so that the processor waits for
// many words of the sets at once.
func (f filter) pick(dst []uint32, keys []uint64) []uint32 {
	dst = slices.Grow(dst[:0], len(keys)+1)[:len(keys)+1]
	n := 0
	for i, key := range keys {
		dst[n] = uint32(i)
		n += f.small.has(key)
	}
	picked := dst[:n]
	n = 0
	for _, i := range picked {
		dst[n] = i
		n += f.large.has(other(keys[i]))
	}
	return dst[:n]
}
