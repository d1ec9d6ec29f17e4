package simd

import (
	"math"
	"math/bits"
)

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
