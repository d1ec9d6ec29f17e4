package measure

import "math"

// kind is a family of measures that differ by numbers only. What a measure must say is a method here, so a new
// kind that forgets one does not compile. The methods have sizes of at least 1 and an inter of at least 1.
type kind interface {
	symmetric(m Measure) bool
	undirected(m Measure) Measure // of a directed measure, the larger of both directions
	isCount() bool
	byParts(m Measure) bool

	similarity(m Measure, inter, a, b uint64) float64
	score(m Measure, inter, a, b uint64) uint64

	number(value float64) (num, den uint64, err error) // of a threshold
	reached(t Threshold, inter, a, b uint64) bool
	minOverlap(t Threshold, a, b uint64) uint64
	least(t Threshold) uint64                // size of the smallest set that reaches it with an equal one
	sizeRatio(t Threshold) (num, den uint64) // see Threshold.sizeRatio
	leastJaccard(t Threshold) (j float64, ok bool)
}

// The kinds, by their numbers in a Measure.
const (
	ofTversky = iota
	ofCosine
	ofOverlap
	numberOfKinds
)

var kinds = [...]kind{tversky{}, cosine{}, overlap{}}

const _ = uint(len(kinds)-numberOfKinds) + uint(numberOfKinds-len(kinds)) // none is forgotten

func (m Measure) kind() kind { return kinds[m>>kindAt] }

// tversky are the ratios of whole·i to whole·i + left·(a−i) + right·(b−i), for i in common of a and b. At least one
// of left and right is above 0. With larger it is that of A and B or of B and A, whichever is larger.
//
// Its integers are exact while (left+right)·size does not exceed 2⁶³.
type tversky struct{}

// weights returns the numbers of a measure and the sizes in the order of its direction.
func (tversky) weights(m Measure, a, b uint64) (whole, left, right, first, second uint64) {
	whole, left, right = uint64(m&255)^1, uint64(m>>leftAt&255)^1, uint64(m>>rightAt&255)^1
	if m&larger != 0 && (left < right) != (b < a) { // the larger weight goes with the smaller set
		return whole, left, right, b, a
	}
	return whole, left, right, a, b
}

func (k tversky) ratio(m Measure, inter, a, b uint64) (part, of uint64) {
	whole, left, right, a, b := k.weights(m, a, b)
	return whole * inter, left*a + right*b + (whole-left-right)*inter // modulo 2⁶⁴: the sum is not negative
}

func (k tversky) symmetric(m Measure) bool {
	_, left, right, _, _ := k.weights(m, 0, 0)
	return left == right || m&larger != 0
}

func (k tversky) undirected(m Measure) Measure {
	if k.symmetric(m) {
		return m
	}
	return m | larger
}

func (tversky) isCount() bool { return false }

func (k tversky) byParts(m Measure) bool {
	whole, left, right, _, _ := k.weights(m, 0, 0)
	return min(left, right) == 0 && max(left, right) == whole
}

func (k tversky) similarity(m Measure, inter, a, b uint64) float64 {
	part, of := k.ratio(m, inter, a, b)
	return float64(part) / float64(of)
}

func (k tversky) score(m Measure, inter, a, b uint64) uint64 { return scaled(k.ratio(m, inter, a, b)) }

func (tversky) number(value float64) (num, den uint64, err error) { return fraction(value) }

func (k tversky) reached(t Threshold, inter, a, b uint64) bool { return inter >= k.minOverlap(t, a, b) }

// minOverlap solves whole·i·q ≥ p·(left·a + right·b + (whole−left−right)·i) for i.
func (k tversky) minOverlap(t Threshold, a, b uint64) uint64 {
	whole, left, right, a, b := k.weights(t.measure, a, b)
	return max(1, share(left*a+right*b, t.num, whole*(t.den-t.num)+(left+right)*t.num))
}

func (tversky) least(Threshold) uint64 { return 1 }

// sizeRatio is that of a set inside another one, in the direction in which what is outside weighs less.
func (k tversky) sizeRatio(t Threshold) (num, den uint64) {
	whole, left, right, _, _ := k.weights(t.measure, 0, 0)
	if left == 0 || right == 0 {
		return 0, 1
	}
	outside := min(left, right) * t.num
	return outside, whole*(t.den-t.num) + outside
}

// leastJaccard: what lies outside the intersection weighs at most i·whole·(1/f − 1), and one of left and right at
// least for each element.
func (k tversky) leastJaccard(t Threshold) (j float64, ok bool) {
	whole, left, right, _, _ := k.weights(t.measure, 0, 0)
	w, outside, f := float64(whole), float64(min(left, right)), t.Float()
	return outside * f / (w - (w-outside)*f), outside > 0
}

// cosine is i / √(a·b).
type cosine struct{}

func (cosine) symmetric(Measure) bool       { return true }
func (cosine) undirected(m Measure) Measure { return m }
func (cosine) isCount() bool                { return false }
func (cosine) byParts(Measure) bool         { return false }

func (cosine) similarity(_ Measure, inter, a, b uint64) float64 {
	return float64(inter) / math.Sqrt(float64(a)*float64(b))
}

func (cosine) score(_ Measure, inter, a, b uint64) uint64 { return squareShare(inter, a, b) }

func (cosine) number(value float64) (num, den uint64, err error) { return fraction(value) }

func (cosine) reached(t Threshold, inter, a, b uint64) bool { return t.cosineReached(inter, a, b) }

func (cosine) minOverlap(t Threshold, a, b uint64) uint64 { return max(1, t.cosineOverlap(a, b)) }

func (cosine) least(Threshold) uint64 { return 1 }

func (cosine) sizeRatio(t Threshold) (num, den uint64) { return t.num * t.num, t.den * t.den }

// leastJaccard: i = c·√(a·b), hence J = c/(√(a/b)+√(b/a)−c), which falls as the sizes differ more. As i ≤ min(a, b),
// √(a/b) and √(b/a) are at most 1/c, and their sum at most c + 1/c: J ≥ c². A set and a subset of c² of its size
// reach that.
func (cosine) leastJaccard(t Threshold) (j float64, ok bool) { return t.Float() * t.Float(), true }

// overlap is i itself.
type overlap struct{}

func (overlap) symmetric(Measure) bool       { return true }
func (overlap) undirected(m Measure) Measure { return m }
func (overlap) isCount() bool                { return true }
func (overlap) byParts(Measure) bool         { return false }

func (overlap) similarity(_ Measure, inter, _, _ uint64) float64 { return float64(inter) }

func (overlap) score(_ Measure, inter, _, _ uint64) uint64 { return inter }

func (overlap) number(value float64) (num, den uint64, err error) { return count(value) }

func (overlap) reached(t Threshold, inter, _, _ uint64) bool { return inter >= t.num }

func (overlap) minOverlap(t Threshold, _, _ uint64) uint64 { return t.num }

func (overlap) least(t Threshold) uint64 { return t.num }

func (overlap) sizeRatio(Threshold) (num, den uint64) { return 0, 1 }

func (overlap) leastJaccard(Threshold) (j float64, ok bool) { return 0, false }
