package minhash

import (
	"fmt"
	"math"
)

// Equal returns the number of components in which two signatures of the scheme agree. It
// panics when they are not both of length K, and for bottom-k, which has no components:
// use [Scheme.Similarity].
func (s Scheme) Equal(a, b []uint32) int {
	s.mustHaveBands()
	checkLength(a, s.K())
	checkLength(b, s.K())
	equal := 0
	b = b[:len(a)]
	for i, x := range a {
		if x == b[i] {
			equal++
		}
	}
	return equal
}

// Similarity returns the estimated Jaccard similarity of two sets by their signatures,
// for every scheme: Estimate of Equal, or for bottom-k the share of [SharedOfSmallest].
// O(K); for bottom-k it allocates.
func (s Scheme) Similarity(a, b []uint32) float64 {
	if s.HasBands() {
		return s.Estimate(s.Equal(a, b))
	}
	shared, of := SharedOfSmallest(s.AppendHashes(nil, a), s.AppendHashes(nil, b), s.K())
	return float64(shared) / float64(max(of, 1))
}

// accident is the probability that two unequal elements give equal components, 2^-bits.
// At 32 bits it returns zero: the true value is far below the resolution of any estimate,
// and Estimate is then equal/k exactly.
func (s Scheme) accident() float64 {
	if s.bits >= 32 {
		return 0
	}
	return math.Ldexp(1, -int(s.bits))
}

// Estimate returns the estimated Jaccard similarity of two sets whose signatures
// agree in equal components, corrected for components of few bits that agree by
// accident, and clipped to [0, 1]. It panics for bottom-k.
func (s Scheme) Estimate(equal int) float64 {
	s.mustHaveBands()
	c := s.accident()
	j := (float64(equal)/float64(s.k) - c) / (1 - c)
	return min(max(j, 0), 1)
}

// StandardError returns the standard deviation of the estimate for two sets of Jaccard
// similarity j, for k independent components: √(p(1−p)/k) / (1−c), with c = 2^-bits and p
// = j + (1−j)·c. For bottom-k, whose k hashes are a sample without replacement, it is an
// upper bound.
func (s Scheme) StandardError(j float64) float64 {
	c := s.accident()
	p := j + (1-j)*c
	return math.Sqrt(p*(1-p)/float64(s.k)) / (1 - c)
}

// MinEqual returns the fewest agreeing components, 0 to K, at which the estimate reaches
// the threshold, and K+1 for a threshold above 1. Decisions by sketch compare Equal with
// it, so that no decision depends on a float.
func (s Scheme) MinEqual(threshold float64) int {
	lo, hi := 0, int(s.k)+1
	for lo < hi {
		mid := (lo + hi) / 2
		if s.Estimate(mid) >= threshold {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// AppendBinary appends the packed signature to dst: K components of Bits bits each, the
// first in the lowest bits of the first byte, bytes in little-endian order, unused bits
// of the last byte zero. A packed bottom-k signature is its hashes only, ascending,
// Bits/8 bytes each in little-endian order. It panics when sig is not of length Words.
func (s Scheme) AppendBinary(dst []byte, sig []uint32) []byte {
	checkLength(sig, s.Words())
	if !s.HasBands() {
		return appendHashBytes(dst, sig, int(s.bits/32))
	}
	var acc uint64
	var filled uint
	for _, c := range sig {
		acc |= uint64(c&s.mask()) << filled
		for filled += uint(s.bits); filled >= 8; filled -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if filled > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// DecodeBinary appends the Words of a packed signature to dst. It is an error when src
// does not have BinarySize bytes, or has ones in unused bits; or, for bottom-k, when it
// is longer or ends within a hash, or hashes do not ascend.
func (s Scheme) DecodeBinary(dst []uint32, src []byte) ([]uint32, error) {
	if !s.HasBands() {
		return decodeHashes(s, dst, src)
	}
	if len(src) != s.BinarySize() {
		return dst, fmt.Errorf("minhash: packed signature of %d bytes, want %d for %s", len(src), s.BinarySize(), s)
	}
	if used := uint(s.k) * uint(s.bits) % 8; used > 0 && src[len(src)-1]>>used != 0 {
		return dst, fmt.Errorf("minhash: packed signature has ones in the unused bits of its last byte")
	}
	var acc uint64
	var filled uint
	for range s.k {
		for ; filled < uint(s.bits); filled += 8 {
			acc |= uint64(src[0]) << filled
			src = src[1:]
		}
		dst = append(dst, uint32(acc)&s.mask())
		acc >>= s.bits
		filled -= uint(s.bits)
	}
	return dst, nil
}
