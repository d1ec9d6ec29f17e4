package simhash

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Equal returns the number of bits in which two signatures of the scheme agree.
// It panics when they are not both of length Words.
func (s Scheme) Equal(a, b []uint64) int {
	s.check(a)
	s.check(b)
	return s.Bits() - Distance(a, b)
}

// Distance returns the Hamming distance of two signatures of the same length, the
// number of bits in which they differ. It panics when b is shorter than a.
func Distance[T uint32 | uint64](a, b []T) int {
	d := 0
	b = b[:len(a)]
	for i, x := range a {
		d += bits.OnesCount64(uint64(x ^ b[i]))
	}
	return d
}

// check panics when sig does not have the length of a signature of the scheme.
func (s Scheme) check(sig []uint64) {
	if len(sig) != s.Words() {
		panic(fmt.Sprintf("simhash: a signature of %d words used with %s", len(sig), s))
	}
}

// Fraction returns the share of equal bits of two signatures that agree in equal
// bits: about ½ for sets that have nothing in common, 1 for equal sets.
func (s Scheme) Fraction(equal int) float64 { return float64(equal) / float64(s.bits) }

// Cosine returns the cosine of the angle between two sets whose signatures agree
// in equal bits, cos(π·(1 − equal/Bits)), clipped at 0. The cosine of two sets
// is |A∩B| / √(|A|·|B|).
func (s Scheme) Cosine(equal int) float64 {
	return max(0, math.Cos(math.Pi*(1-s.Fraction(equal))))
}

// StandardError returns the standard deviation of Cosine for two sets of the given
// cosine, in [0, 1], to first order: π·√(1−c²)·√(p(1−p)/Bits) with
// p = 1 − arccos(c)/π. It is least for similar sets.
func (s Scheme) StandardError(cosine float64) float64 {
	p := 1 - math.Acos(cosine)/math.Pi
	return math.Pi * math.Sqrt((1-cosine*cosine)*p*(1-p)/float64(s.bits))
}

// MaxDistance returns the largest Hamming distance at which Cosine reaches the threshold,
// and −1 for a threshold above 1. Decisions by signature compare Distance with it, so
// that no decision depends on a float.
func (s Scheme) MaxDistance(cosine float64) int {
	lo, hi := -1, s.Bits()
	for lo < hi {
		mid := hi - (hi-lo)/2
		if s.Cosine(s.Bits()-mid) >= cosine {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// BinarySize returns the length in bytes of a packed signature, ⌈Bits/8⌉.
func (s Scheme) BinarySize() int { return (s.Bits() + 7) / 8 }

// AppendBinary appends the packed signature to dst, the byte array of hash4j:
// component i is bit i mod 8, counted from the lowest, of byte ⌊i/8⌋; unused bits
// of the last byte are zero. It panics when sig is not of length Words.
func (s Scheme) AppendBinary(dst []byte, sig []uint64) []byte {
	s.check(sig)
	size := len(dst) + s.BinarySize()
	for _, w := range sig {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst[:size]
}

// DecodeBinary appends the Words words of a packed signature to dst. It is an
// error when src does not have BinarySize bytes, or has ones in unused bits.
func (s Scheme) DecodeBinary(dst []uint64, src []byte) ([]uint64, error) {
	if len(src) != s.BinarySize() {
		return dst, fmt.Errorf("simhash: packed signature of %d bytes, want %d for %s", len(src), s.BinarySize(), s)
	}
	if used := s.Bits() % 8; used > 0 && src[len(src)-1]>>used != 0 {
		return dst, fmt.Errorf("simhash: packed signature has ones in the unused bits of its last byte")
	}
	for ; len(src) >= 8; src = src[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(src))
	}
	if len(src) > 0 {
		var last [8]byte
		copy(last[:], src)
		dst = append(dst, binary.LittleEndian.Uint64(last[:]))
	}
	return dst, nil
}
