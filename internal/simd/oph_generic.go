package simd

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// mixBelowGeneric is the pure Go twin of the assembly. It has three loops, for bounds that all,
// many, or few words pass: only few are worth a branch.
func mixBelowGeneric(dst, src []uint64, key, k, bound uint64) int {
	dst = dst[:len(src)]
	n := 0
	switch {
	case bound == math.MaxUint64:
		for i, x := range src {
			dst[i] = hashing.Mix(x ^ key)
		}
		n = len(src)
	case bound > math.MaxUint64/8:
		for _, x := range src {
			h := hashing.Mix(x ^ key)
			dst[n] = h
			_, above := bits.Sub64(bound, h*k, 0) // 1 if h·k exceeds the bound
			n += 1 - int(above)
		}
	default:
		for _, x := range src {
			if h := hashing.Mix(x ^ key); h*k <= bound {
				dst[n] = h
				n++
			}
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

// mixPairsGeneric is the pure Go twin of the assembly.
func mixPairsGeneric(dst, bins []uint64, p *pairs) int {
	bins = bins[:len(dst)]
	low := uint64(1)<<(p.shift&63) - 1
	n := 0
	for j, y := range p.outer {
		tag := p.tag + uint64(j)*p.outerStep
		for _, x := range p.inner {
			h := hashing.Mix(x ^ y)
			b := h >> (p.shift & 63)
			dst[n], bins[n] = h&low|tag, b
			n += int(p.open[b>>6&(OpenWords-1)] >> (b & 63) & 1)
			tag += p.innerStep
		}
	}
	return n
}

// emptyBinsGeneric is the pure Go twin of the assembly.
func emptyBinsGeneric(open, bins []uint64) int {
	empty := len(bins)
	for i := range open {
		var word uint64
		if first := 64 * i; first < len(bins) {
			for j, h := range bins[first:min(first+64, len(bins))] {
				_, full := bits.Sub64(h, math.MaxUint64, 0) // 1 if h is below
				word |= (full ^ 1) << (j & 63)
				empty -= int(full)
			}
		}
		open[i] = word
	}
	return empty
}

// passOpenGeneric is the pure Go twin of the assembly.
func passOpenGeneric(dst, src []uint64, open *[OpenWords]uint64) int {
	n := 0
	dst = dst[:len(src)]
	for _, x := range src {
		dst[n] = x
		n += int(open[x>>61] >> (x >> 55 & 63) & 1)
	}
	return n
}
