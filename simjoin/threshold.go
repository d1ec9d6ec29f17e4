package simjoin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDecimals bounds the denominator by 10⁹, so that numerator times the sum of
// two lengths (10⁹ · 2³² < 2⁶³) never overflows.
const maxDecimals = 9

// Threshold is a Jaccard threshold in (0, 1] as an exact fraction in lowest
// terms. All its bounds are computed in integers, for set sizes from 0 to 2³¹,
// so that a pair exactly on the threshold is judged alike everywhere. The zero
// value is not a threshold: its methods may panic. Values compare with ==.
type Threshold struct{ num, den uint64 }

// NewThreshold returns the fraction that the shortest decimal form of f spells:
// 0.8 is 4/5, not the nearest binary fraction. It fails for NaN, for values
// outside (0, 1], and for more than nine decimals.
func NewThreshold(f float64) (Threshold, error) {
	if !(f > 0 && f <= 1) { // also refuses NaN
		return Threshold{}, fmt.Errorf("threshold %v is out of range: give a number above 0 and at most 1, such as 0.8", f)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	num, err := strconv.ParseUint(whole+fraction, 10, 64) // at most 17 digits
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %v: %w", f, err)
	}
	shift, err := strconv.Atoi(exponent)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %v: %w", f, err)
	}
	decimals := len(fraction) - shift
	if decimals > maxDecimals {
		return Threshold{}, fmt.Errorf("threshold %v has %d decimals: round it to at most %d", f, decimals, maxDecimals)
	}
	den := uint64(1)
	for range decimals {
		den *= 10
	}
	d := gcd(num, den)
	return Threshold{num / d, den / d}, nil
}

// Float returns the threshold as the nearest float64, for display.
func (t Threshold) Float() float64 { return float64(t.num) / float64(t.den) }

// String returns the shortest decimal form; NewThreshold reads it back.
func (t Threshold) String() string { return strconv.FormatFloat(t.Float(), 'f', -1, 64) }

// Reached reports whether inter/union is at or above the threshold. Two empty
// sets (union 0) are similar to nothing, not even to each other.
func (t Threshold) Reached(inter, union int) bool {
	return inter > 0 && uint64(inter)*t.den >= t.num*uint64(union)
}

// MinOverlap returns the smallest intersection with which sets of la and lb
// elements reach the threshold: ⌈t/(1+t) · (la+lb)⌉. It may exceed la or lb, and
// then no such pair reaches it.
func (t Threshold) MinOverlap(la, lb int) int {
	return clamp(ceilDiv(t.num*(uint64(la)+uint64(lb)), t.num+t.den))
}

// MinSize returns the size of the smallest set that can reach the threshold
// with a set of la elements: ⌈t·la⌉.
func (t Threshold) MinSize(la int) int { return clamp(ceilDiv(t.num*uint64(la), t.den)) }

// MaxSize returns the size of the largest set that can reach the threshold with
// a set of la elements: ⌊la/t⌋.
func (t Threshold) MaxSize(la int) int { return clamp(t.den * uint64(la) / t.num) }

// Prefix returns how many of the first elements of a set of la elements, in any
// order common to all sets, suffice to meet every partner: two sets that reach
// the threshold share an element of both prefixes. It is la − ⌈t·la⌉ + 1, and 0
// for the empty set.
func (t Threshold) Prefix(la int) int {
	if la == 0 {
		return 0
	}
	return la - t.MinSize(la) + 1
}

// IndexPrefix is Prefix for partners that have at least la elements, which need
// a larger overlap: la − ⌈2t/(1+t)·la⌉ + 1. A set of which this many elements
// are indexed is met by the Prefix of every longer or equally long set.
func (t Threshold) IndexPrefix(la int) int {
	if la == 0 {
		return 0
	}
	return la - t.MinOverlap(la, la) + 1
}

func ceilDiv(a, b uint64) uint64 { return (a + b - 1) / b }

// clamp matters only where int has 32 bits.
func clamp(v uint64) int { return int(min(v, math.MaxInt)) }

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
