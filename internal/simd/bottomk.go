package simd

import (
	"math"
	"math/bits"
)

// The kernels of bottom-k sketching: they hash words by XXH3, or use them directly, and keep those
// that can still be among the k smallest.
//
//	for every 8 words:
//	    h    = XXH3 of the word's eight bytes, & mask
//	    pass = h < bound
//	    move the words that pass to the front, store all 8, advance by the number that pass
//
//  1. Once the bound is low almost no word passes, and a word costs as much as its
//     hash: AVX-512 takes 0.12 ns, Go 0.8 (BenchmarkXXH3Below).
//  2. Words are packed and stored as in MixBelow.

// The secret of XXH3 for inputs of 4 to 8 bytes (two words of its default secret
// xored), and the multiplier of its finaliser.
const (
	xxh3Secret = 0xc73ab174c5ecd5a2
	xxh3Prime  = 0x9fb21c651e98df25
)

// XXH3Flip returns the constant that XXH3Below needs for a seed.
func XXH3Flip(seed uint64) uint64 {
	return xxh3Secret - (seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32)
}

// XXH3Below writes to dst, in order, the hashes of src that are below bound, and returns their
// number. The hash of a word is XXH3_64bits_withSeed of its eight bytes in little-endian order, and
// mask says which of its bits count; flip is XXH3Flip of the seed. dst must have room for len(src)
// rounded up to a multiple of 8, all of which may be overwritten.
func XXH3Below(dst, src []uint64, flip, mask, bound uint64) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[(len(src)+7)&^7-1]
	return xxh3Below(dst, src, flip, mask, bound)
}

// Below writes to dst, in order, the words of src, shifted to the left by shift bits, that are
// below bound, and returns their number. dst is as for XXH3Below.
func Below(dst, src []uint64, shift uint, bound uint64) int {
	if len(src) == 0 {
		return 0
	}
	_ = dst[(len(src)+7)&^7-1]
	return below(dst, src, shift, bound)
}

// xxh3 is the hash of one word.
func xxh3(x, flip uint64) uint64 {
	h := bits.RotateLeft64(x, 32) ^ flip
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= xxh3Prime
	h ^= h>>35 + 8
	h *= xxh3Prime
	return h ^ h>>28
}

// xxh3BelowGeneric is the pure Go twin of the assembly. A branch is cheaper than storing all words
// only where few words pass.
func xxh3BelowGeneric(dst, src []uint64, flip, mask, bound uint64) int {
	dst = dst[:len(src)]
	n := 0
	if bound > math.MaxUint64/8 {
		for _, x := range src {
			h := xxh3(x, flip) & mask
			dst[n] = h
			_, below := bits.Sub64(h, bound, 0) // 1 if h is below the bound
			n += int(below)
		}
		return n
	}
	for _, x := range src {
		if h := xxh3(x, flip) & mask; h < bound {
			dst[n] = h
			n++
		}
	}
	return n
}

// belowGeneric is the pure Go twin of the assembly.
func belowGeneric(dst, src []uint64, shift uint, bound uint64) int {
	dst = dst[:len(src)]
	n := 0
	for _, x := range src {
		h := x << (shift & 63)
		dst[n] = h
		_, below := bits.Sub64(h, bound, 0) // 1 if h is below the bound
		n += int(below)
	}
	return n
}
