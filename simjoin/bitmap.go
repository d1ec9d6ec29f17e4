package simjoin

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/measure"
)

// bitmap holds, for each of 256 values that tokens are mapped to, the parity of the
// number of a set's tokens with it. For each bit in which two bitmaps differ there is a
// token of its own that only one of the sets has (E. Sandes, G. Teodoro, A. Melo,
// "Bitmap filter: speeding up exact set similarity joins with bitwise operations",
// Information Systems 88, 2020).
//
// Sets of n elements that have nothing in common differ in about 128·(1−e^(−n/64))
// bits, and may differ in 2n·(1−t)/(1+t) elements at threshold t: up to 140 elements
// at 0.5 and 500 at 0.8 nearly all pairs are told apart. With 128 bits it is half of
// that, with 64 a fifth, and small sets gain nothing by the smaller memory.
type bitmap [4]uint64

func bitmapOf(set []uint64) (b bitmap) {
	for _, token := range set {
		b.add(token)
	}
	return b
}

func (b *bitmap) add(token uint64) {
	place := token * spread >> 56
	b[place>>6] ^= 1 << (place & 63)
}

// differ returns in how many bits two bitmaps differ.
func (b *bitmap) differ(o *bitmap) uint32 {
	return uint32(bits.OnesCount64(b[0]^o[0]) + bits.OnesCount64(b[1]^o[1]) +
		bits.OnesCount64(b[2]^o[2]) + bits.OnesCount64(b[3]^o[3]))
}

// tells reports whether bitmaps tell nearly all pairs of sets of two sizes apart that
// have one element in common and no more: those that differ by chance in so few bits as
// a threshold allows are two standard deviations away. It decides only which way a pair
// is found.
//
// With m elements in one set only, a bit differs where an odd number of them is mapped
// to its value: P = (1−(1−2/n)ᵐ)/2 for n bits, and (1−2(1−2/n)ᵐ+(1−4/n)ᵐ)/4 for two bits.
func tells(t measure.Threshold, a, b uint64) bool {
	need := t.MinOverlap(a, b)
	if need <= 1 { // nothing is to be told
		return min(a, b) <= 8
	}
	const n = 64 * float64(len(bitmap{}))
	m := float64(a + b - 2)
	one := math.Pow(1-2/n, m)
	two := math.Pow(1-4/n, m)
	mean := n * (1 - one) / 2
	variance := mean + n*(n-1)*(1-2*one+two)/4 - mean*mean
	return mean-2*math.Sqrt(max(variance, 0)) > float64(a+b)-2*float64(min(need, min(a, b)))
}
