package measure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxDecimals bounds the denominator of a fraction by 10⁹ < 2³⁰, so that its square
	// times the product of two sizes up to 2⁶² fits 192 bits.
	maxDecimals = 9
	// maxOverlap is the largest number up to which floats represent every whole number.
	maxOverlap = 1 << 53
)

// Threshold is a measure with the value that a pair must reach, an exact fraction in
// lowest terms: above 0 and at most 1, or for Overlap a whole number of at least 1. Its
// methods decide in integers and are exact for sizes up to 2⁶². They cost O(1) and do not
// allocate.
//
// The zero value is not a threshold: its methods may panic. Values compare with ==.
type Threshold struct {
	measure  Measure
	num, den uint64
}

// NewThreshold returns the fraction that the shortest decimal form of value spells: 0.8
// is 4/5, not the nearest binary fraction. It fails for unknown kinds of measures, NaN, values
// outside (0, 1], and more than nine decimals; for Overlap it accepts only whole numbers
// from 1 to 2⁵³.
func NewThreshold(m Measure, value float64) (Threshold, error) {
	if m>>kindAt >= numberOfKinds {
		return Threshold{}, fmt.Errorf("unknown %v", m)
	}
	num, den, err := m.kind().number(value)
	if err != nil {
		return Threshold{}, err
	}
	return Threshold{m, num, den}, nil
}

// count returns a whole number from 1 on as a fraction.
func count(value float64) (num, den uint64, err error) {
	if !(value >= 1 && value <= maxOverlap) || value != float64(uint64(value)) { // also refuses NaN
		return 0, 0, fmt.Errorf("overlap %v is not a whole number from 1 on: give the least number of common features, such as 3", value)
	}
	return uint64(value), 1, nil
}

// fraction returns the shortest decimal form of a value in (0, 1] in lowest terms.
func fraction(value float64) (num, den uint64, err error) {
	if !(value > 0 && value <= 1) {
		return 0, 0, fmt.Errorf("threshold %v is out of range: give a number above 0 and at most 1, such as 0.8", value)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, 64), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	num, errDigits := strconv.ParseUint(whole+fraction, 10, 64) // at most 17 digits
	shift, errShift := strconv.Atoi(exponent)
	if err := errors.Join(errDigits, errShift); err != nil {
		return 0, 0, fmt.Errorf("threshold %v: %w", value, err)
	}
	decimals := len(fraction) - shift
	if decimals > maxDecimals {
		return 0, 0, fmt.Errorf("threshold %v has %d decimals: round it to at most %d", value, decimals, maxDecimals)
	}
	den = 1
	for range decimals {
		den *= 10
	}
	d := gcd(num, den)
	return num / d, den / d, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// ParseThreshold reads the result of String: "jaccard>=0.8", "overlap>=3".
func ParseThreshold(line string) (Threshold, error) {
	name, number, ok := strings.Cut(line, ">=")
	if !ok {
		return Threshold{}, fmt.Errorf("threshold %q: want a measure, >= and a number, such as %q", line, "jaccard>=0.8")
	}
	m, err := Parse(name)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: %w", line, err)
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: %q is not a number", line, number)
	}
	return NewThreshold(m, value)
}

// Measure returns the measure.
func (t Threshold) Measure() Measure { return t.measure }

// Float returns the value as the nearest float64, for display.
func (t Threshold) Float() float64 { return float64(t.num) / float64(t.den) }

// String returns the canonical line, such as "jaccard>=0.8", which ParseThreshold reads
// back.
func (t Threshold) String() string {
	return t.measure.String() + ">=" + strconv.FormatFloat(t.Float(), 'f', -1, 64)
}

// Undirected returns the threshold that a pair reaches if it reaches t in at least one
// direction: that of MaxContainment for Containment, otherwise t itself. Joins look for
// its pairs, and then check t in each direction.
func (t Threshold) Undirected() Threshold {
	t.measure = t.measure.kind().undirected(t.measure)
	return t
}

// LeastJaccard returns, for display and for probabilities, the least Jaccard similarity
// of two sets that reach the threshold; ok is false if it has no bound above 0.
// Containment and Overlap have none: they say nothing about the other elements of the other set.
func (t Threshold) LeastJaccard() (j float64, ok bool) { return t.measure.kind().leastJaccard(t) }
