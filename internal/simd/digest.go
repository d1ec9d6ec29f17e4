package simd

import "math"

// Digest returns the sum of the words and the sum of the products of each word's
// halves, both modulo 2⁶⁴.
func Digest(words []uint64) (sum, products uint64) {
	done, sum, products := digestVector(words)
	s, p := digestGeneric(words[done:])
	return sum + s, products + p
}

// digestGeneric is the pure Go twin of the kernel.
func digestGeneric(words []uint64) (sum, products uint64) {
	for _, x := range words {
		sum += x
		products += (x >> 32) * (x & math.MaxUint32)
	}
	return sum, products
}
