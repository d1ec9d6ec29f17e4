package simd

// The kernels of k-mins sketching, k permutations a·x + b mod 2³² of every x:
//
//	for every chunk of permutations:
//	    for every x:
//	        low = min(low, mul·x + add)   in every lane
//
//  1. A lane is a permutation, not an x: minima need no reduction at the end.
//  2. A chunk is what fits the registers (128 permutations with AVX-512, 32 with
//     AVX2), so the inner loop loads nothing but x. For k = 128 that is 1.7 ns an x,
//     3.4 with AVX2, where Go takes 50.

// AffineLanes is the unit of the number of permutations of LowerAffine: it must be a multiple.
const AffineLanes = 16

// MixHigh writes the high half of hashing.Mix(x ^ key) of every x of src to dst,
// which must be at least as long.
func MixHigh(dst []uint32, src []uint64, key uint64) {
	if len(src) == 0 {
		return
	}
	_ = dst[len(src)-1]
	mixHigh(dst, src, key)
}

// LowerAffine lowers low[i] to the least mul[i]·x + add[i] mod 2³² of all x of
// src, for all i. The lengths of low, mul and add must be equal and a multiple of
// AffineLanes.
func LowerAffine(low, mul, add, src []uint32) {
	n := len(low)
	if n%AffineLanes != 0 || len(mul) != n || len(add) != n {
		panic("simd: LowerAffine wants equal lengths that are multiples of 16")
	}
	if n == 0 || len(src) == 0 {
		return
	}
	lowerAffine(low, mul, add, src)
}
