package simd

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// mixBelowGeneric is the pure Go twin of the assembly.
func mixBelowGeneric(dst, src []uint64, key, k, bound uint64) int {
	n := 0
	dst = dst[:len(src)]
	for _, x := range src {
		h := hashing.Mix(x ^ key)
		dst[n] = h
		if h*k <= bound {
			n++
		}
	}
	return n
}

// mixOpenGeneric is the pure Go twin of the assembly.
func mixOpenGeneric(dst, src []uint64, key, k uint64, open *[OpenWords]uint64) int {
	n := 0
	dst = dst[:len(src)]
	for _, x := range src {
		h := hashing.Mix(x ^ key)
		b, _ := bits.Mul64(h, k)
		dst[n] = h
		n += int(open[b>>6&(OpenWords-1)] >> (b & 63) & 1)
	}
	return n
}
