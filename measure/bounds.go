package measure

import (
	"cmp"
	"math"
	"math/bits"
)

// Reached reports whether sets A and B of sizeA and sizeB that have inter in common reach
// the threshold. With inter 0 they do not.
func (t Threshold) Reached(inter, sizeA, sizeB uint64) bool {
	return inter > 0 && t.measure.kind().reached(t, inter, sizeA, sizeB)
}

// MinOverlap returns the least intersection, from 1 on, with which sets A and B of sizeA
// and sizeB reach the threshold t = p/q:
//
//	Jaccard, WeightedJaccard   ⌈p·(a+b) / (p+q)⌉
//	Dice                       ⌈p·(a+b) / 2q⌉
//	Containment                ⌈p·a / q⌉
//	MaxContainment             ⌈p·min(a, b) / q⌉
//	Cosine                     ⌈√(p²·a·b) / q⌉
//	Overlap                    p
//
// It may exceed a size; then no such pair reaches the threshold. It never falls when a
// size grows.
func (t Threshold) MinOverlap(sizeA, sizeB uint64) uint64 {
	if t.measure>>kindAt == ofTversky { // the innermost loops of joins ask: without a table in between
		return tversky{}.minOverlap(t, sizeA, sizeB)
	}
	return t.measure.kind().minOverlap(t, sizeA, sizeB)
}

// cosineOverlap returns the least i with (i·q)² ≥ p²·a·b.
func (t Threshold) cosineOverlap(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		carry, product := bits.Mul64(low, t.num*t.num) // < 2⁶⁰ · 2⁶⁴
		return (ceilSqrt(carry, product) + t.den - 1) / t.den
	}
	// The float is only the start of the search; its relative error is below 2⁻⁴⁹.
	guess := uint64(t.Float() * math.Sqrt(float64(a)) * math.Sqrt(float64(b)))
	low, high := guess-min(guess, guess>>49+2), guess+guess>>49+2
	for low < high {
		if i := low + (high-low)/2; t.cosineReached(i, a, b) {
			high = i
		} else {
			low = i + 1
		}
	}
	return low
}

// cosineReached reports whether (i·q)² ≥ p²·a·b, for i, a and b up to 2⁶³.
func (t Threshold) cosineReached(i, a, b uint64) bool {
	return compareProducts(i, i, t.den*t.den, a, b, t.num*t.num) >= 0
}

// compareProducts compares a·b·c with x·y·z, in 192 bits.
func compareProducts(a, b, c, x, y, z uint64) int {
	a2, a1, a0 := product(a, b, c)
	x2, x1, x0 := product(x, y, z)
	return cmp.Or(cmp.Compare(a2, x2), cmp.Compare(a1, x1), cmp.Compare(a0, x0))
}

// product returns a·b·c in three words, the highest first.
func product(a, b, c uint64) (p2, p1, p0 uint64) {
	high, low := bits.Mul64(a, b)
	carry, p0 := bits.Mul64(low, c)
	p2, p1 = bits.Mul64(high, c)
	p1, over := bits.Add64(p1, carry, 0)
	return p2 + over, p1, p0
}

// sizeRatio returns the least ratio of the smaller set's size to the larger one's, as a
// fraction, not always in lowest terms. It is 0 for a measure without such a bound.
func (t Threshold) sizeRatio() (num, den uint64) { return t.measure.kind().sizeRatio(t) }

// MinSize returns the size of the smallest set, at least 1, that can reach the threshold
// with a set of the given size, in either direction, when it lies inside that set. It is
// 1 for both containments.
func (t Threshold) MinSize(size uint64) uint64 {
	num, den := t.sizeRatio()
	return max(t.measure.kind().least(t), share(size, num, den))
}

// MaxSize returns the size of the largest set that can reach the threshold with a set of
// the given size, in either direction, when that set lies inside it. It is MaxUint64
// where there is no bound, as for both containments, and 0 where no set can.
func (t Threshold) MaxSize(size uint64) uint64 {
	num, den := t.sizeRatio()
	switch {
	case size < t.measure.kind().least(t):
		return 0
	case num == 0:
		return math.MaxUint64
	}
	high, low := bits.Mul64(size, den)
	if high >= num {
		return math.MaxUint64
	}
	largest, _ := bits.Div64(high, low, num)
	return largest
}

// Prefix returns how many of the first elements of a set of the given size, in any order
// common to all sets, suffice to find every partner: two sets that reach the threshold,
// in either direction, share an element of both prefixes. For both containments it is the
// whole set.
//
// Sets that share o elements share one of the first |A|−o+1 of A and of the first |B|−o+1
// of B: o−1 others follow the first common one.
func (t Threshold) Prefix(size uint64) uint64 { return prefix(size, t.MinSize(size)) }

// IndexPrefix is Prefix for partners that are not smaller, which must share more
// elements: if this many elements of a set are indexed, the Prefix of every set of its
// size or larger finds it.
func (t Threshold) IndexPrefix(size uint64) uint64 { return prefix(size, t.MinOverlap(size, size)) }

func prefix(size, overlap uint64) uint64 {
	if overlap > size {
		return 0
	}
	return size - overlap + 1
}

// share returns ⌈x·num/den⌉ for num ≤ den < 2⁶².
func share(x, num, den uint64) uint64 {
	high, low := bits.Mul64(x, num)
	low, carry := bits.Add64(low, den-1, 0)
	if high += carry; high == 0 {
		return low / den // the common case, and a shorter division
	}
	quotient, _ := bits.Div64(high, low, den)
	return quotient
}

// scaled returns ⌊part·2⁶²/whole⌋ for part ≤ whole.
func scaled(part, whole uint64) uint64 {
	quotient, _ := bits.Div64(part>>2, part<<62, whole)
	return quotient
}

// squareShare returns ⌊i²·2⁶²/(a·b)⌋ for i² ≤ a·b: one step of the schoolbook division of
// three digits of 64 bits by two (D. Knuth, "The Art of Computer Programming" 2, 4.3.1,
// algorithm D). The divisor is shifted until its top bit is set; then the first guess of
// the quotient, by the top digit alone, is at most 2 too large.
func squareShare(i, a, b uint64) uint64 {
	d1, d0 := bits.Mul64(a, b)
	zeros := uint(bits.LeadingZeros64(d1))
	if d1 == 0 {
		zeros += uint(bits.LeadingZeros64(d0))
	}
	_, d1, d0 = shiftLeft(d1, d0, zeros)
	high, low := bits.Mul64(i, i)
	u2, u1, u0 := shiftLeft(high, low, 62+zeros)
	q, rest := bits.Div64(u2, u1, d1)
	for {
		if t1, t0 := bits.Mul64(q, d0); t1 < rest || t1 == rest && t0 <= u0 {
			return q
		}
		q--
		if rest += d1; rest < d1 { // beyond 64 bits, and so above t
			return q
		}
	}
}

// shiftLeft returns the lower 192 bits of high·2⁶⁴+low shifted, the highest word first.
func shiftLeft(high, low uint64, by uint) (w2, w1, w0 uint64) {
	switch {
	case by >= 128:
		return low << (by - 128), 0, 0
	case by >= 64:
		return high<<(by-64) | low>>(128-by), low << (by - 64), 0
	}
	return high >> (64 - by), high<<by | low>>(64-by), low << by
}

// ceilSqrt returns ⌈√(high·2⁶⁴ + low)⌉ of a number below 2¹²⁴. The float is only the
// start of the search, off by a few thousand at most: one step of Newton's method leaves
// an error of 1, and integers decide.
func ceilSqrt(high, low uint64) uint64 {
	if high == 0 && low == 0 {
		return 0
	}
	root := uint64(math.Sqrt(float64(high)*(1<<64)+float64(low))) + 1
	if quotient, _ := bits.Div64(high, low, root); quotient > 0 {
		root = (root + quotient) / 2
	}
	for squareBelow(root, high, low) {
		root++
	}
	for root > 0 && !squareBelow(root-1, high, low) {
		root--
	}
	return root
}

// squareBelow reports whether root² is below high·2⁶⁴ + low.
func squareBelow(root, high, low uint64) bool {
	h, l := bits.Mul64(root, root)
	return h < high || h == high && l < low
}
