package simjoin

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/measure"
)

// bitmap maps tokens to 256 values and holds, for each value, the parity of the number of
// a set's tokens with it. Each bit in which two bitmaps differ stands for a different
// token that only one of the sets has (E. Sandes, G. Teodoro, A. Melo, "Bitmap filter:
// speeding up exact set similarity joins with bitwise operations", Information Systems
// 88, 2020).
//
// Sets of n elements that have nothing in common differ in about 128·(1−e^(−n/64)) bits,
// and may differ in 2n·(1−t)/(1+t) elements at threshold t: up to 140 elements at 0.5 and
// 500 at 0.8 the bitmaps rule out nearly all such pairs. With 128 bits it is half as many
// elements, with 64 a fifth, and small sets gain nothing from the smaller memory.
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

// differ returns the number of bits in which two bitmaps differ.
func (b *bitmap) differ(o *bitmap) uint32 {
	return uint32(bits.OnesCount64(b[0]^o[0]) + bits.OnesCount64(b[1]^o[1]) +
		bits.OnesCount64(b[2]^o[2]) + bits.OnesCount64(b[3]^o[3]))
}

// tells reports whether bitmaps rule out nearly all pairs of sets of sizes a and b that
// have exactly one element in common: the number of bits in which those differ by chance
// is at least two standard deviations above what the threshold allows. It only decides by
// which method a pair is found.
//
// If m elements are in one set only, a bit differs if an odd number of them is mapped to
// its value: P = (1−(1−2/n)ᵐ)/2 for n bits, and (1−2(1−2/n)ᵐ+(1−4/n)ᵐ)/4 for two bits.
func tells(t measure.Threshold, a, b uint64) bool {
	need := t.MinOverlap(a, b)
	if need <= 1 { // there is no pair to rule out
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
