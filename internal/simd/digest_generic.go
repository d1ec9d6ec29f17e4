package simd

import "math"

// digestGeneric is the pure Go twin of the kernel.
func digestGeneric(words []uint64) (sum, products uint64) {
	for _, x := range words {
		sum += x
		products += (x >> 32) * (x & math.MaxUint32)
	}
	return sum, products
}
