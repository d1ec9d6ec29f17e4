package simd

import "github.com/alike-dev/alike/internal/hashing"

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

// affineVariant is a variant of lowerAffine.
type affineVariant struct {
	name string
	run  func(low, mul, add, src []uint32)
}

// mixHighGeneric is the pure Go twin of the assembly.
func mixHighGeneric(dst []uint32, src []uint64, key uint64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = uint32(hashing.Mix(x^key) >> 32)
	}
}

// lowerAffineGeneric is the pure Go twin of the assembly. Four permutations at a
// time keep their state in registers.
func lowerAffineGeneric(low, mul, add, src []uint32) {
	for i := 0; i+4 <= len(low); i += 4 {
		l, m, a := (*[4]uint32)(low[i:]), (*[4]uint32)(mul[i:]), (*[4]uint32)(add[i:])
		l0, l1, l2, l3 := l[0], l[1], l[2], l[3]
		m0, m1, m2, m3 := m[0], m[1], m[2], m[3]
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		for _, x := range src {
			l0 = min(l0, m0*x+a0)
			l1 = min(l1, m1*x+a1)
			l2 = min(l2, m2*x+a2)
			l3 = min(l3, m3*x+a3)
		}
		l[0], l[1], l[2], l[3] = l0, l1, l2, l3
	}
}
