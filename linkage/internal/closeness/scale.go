// Package closeness says how near numbers and dates are to each other, by what random pairs of a table's values show.
package closeness

import (
	"cmp"
	"math"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
)

// Steps is the number of steps of closeness, and widest the share of random pairs within the first one, as a power of ½.
// Each further step has half the pairs of the one before.
const (
	Steps  = 11
	widest = 2
)

// A Scale says how near points are: days of dates, or numbers. Whether numbers are compared by difference or by ratio,
// and which distance is near, follow from the points, so units do not matter.
type Scale struct {
	ratio  bool
	within [Steps]float64 // distance that at most a share ½^(widest+k) of random pairs of different points do not exceed
	agrees int            // see AgreeingFrom
}

// AgreeingFrom returns the scale with the step from which points are so near that they agree.
func (s *Scale) AgreeingFrom(step int) *Scale {
	of := *s
	of.agrees = step
	return &of
}

// Agreeing returns the step from which points are so near that they agree; 0: none says that.
func (s *Scale) Agreeing() int { return s.agrees }

const (
	// mostPoints is about the largest number of distinct points that a scale is made from, and leastPoints the least: fewer
	// are names rather than places.
	mostPoints  = 20_000
	leastPoints = 8
	// mostlyPositive is the least share of positive points of which ratios are taken.
	mostlyPositive = 0.99
	// lighter is the largest kurtosis of logarithms, as a share of that of the numbers, at which ratios are taken.
	lighter = 0.5
)

// weighted is a point and the number of rows that have it.
type weighted struct{ at, n float64 }

// NewScale returns the scale of points, of which each occurs so many times; NaN is no point. It returns nil if there are too
// few different points. O(n log n).
func NewScale(points []float64, counts []uint32) *Scale {
	some := sample(points, counts)
	if len(some) < leastPoints {
		return nil
	}
	if logs := logarithms(some); logs != nil && kurtosis(logs) < lighter*kurtosis(some) {
		return scaleOf(logs, true)
	}
	return scaleOf(some, false)
}

// scaleOf returns the scale of coordinates.
func scaleOf(some []weighted, ratio bool) *Scale {
	s := &Scale{ratio: ratio}
	sorting.Func(some, func(x, y weighted) int { return cmp.Compare(x.at, y.at) })
	for k := range s.within {
		s.within[k] = quantile(some, Share(k+1))
	}
	return s
}

// sample returns the distinct points, or a part of them that is chosen by a hash.
func sample(points []float64, counts []uint32) (some []weighted) {
	part := uint64(len(points)/mostPoints + 1)
	for i, x := range points {
		if counts[i] > 0 && !math.IsNaN(x) && hashing.Mix(math.Float64bits(x))%part == 0 {
			some = append(some, weighted{x, float64(counts[i])})
		}
	}
	return some
}

// logarithms returns the logarithms of the positive points; nil if they are not nearly all.
func logarithms(points []weighted) (logs []weighted) {
	all, positive := 0.0, 0.0
	for _, p := range points {
		if all += p.n; p.at > 0 {
			positive += p.n
			logs = append(logs, weighted{math.Log(p.at), p.n})
		}
	}
	if positive < mostlyPositive*all {
		return nil
	}
	return logs
}

// kurtosis returns the fourth central moment of points by the square of the second: the larger, the farther the farthest
// points are from the others.
func kurtosis(points []weighted) float64 {
	var n, mean, second, fourth float64
	for _, p := range points {
		n, mean = n+p.n, mean+p.n*p.at
	}
	mean /= n
	for _, p := range points {
		d := (p.at - mean) * (p.at - mean)
		second, fourth = second+p.n*d, fourth+p.n*d*d
	}
	return fourth * n / max(second*second, math.SmallestNonzeroFloat64)
}

// quantile returns a distance that at most this share of random pairs of different sorted points do not exceed, nearly the
// largest. It halves a range sixty times, and counts pairs only where the counts before do not tell: some twenty times.
func quantile(sorted []weighted, share float64) float64 {
	low, high := 0.0, sorted[len(sorted)-1].at-sorted[0].at
	few, many := 0.0, math.Inf(1) // distances below few are small enough, and those from many on are not
	for range 60 {
		middle := (low + high) / 2
		if few <= middle && middle < many {
			if within, below, above := shareWithin(sorted, middle); within > share {
				many = below
			} else {
				few = above
			}
		}
		if middle >= many {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// shareWithin returns the share of random pairs of different sorted points that are at most so far apart. From below on, and up
// to above, all distances have this share.
func shareWithin(sorted []weighted, distance float64) (share, below, above float64) {
	var first int
	var within, pairs, n, equal float64
	above = math.Inf(1)
	for _, p := range sorted {
		within += p.n
		for p.at-sorted[first].at > distance {
			within -= sorted[first].n
			first++
		}
		if d := p.at - sorted[first].at; d > below {
			below = d
		}
		if first > 0 {
			if d := p.at - sorted[first-1].at; d < above {
				above = d
			}
		}
		pairs += 2 * p.n * (within - p.n)
		n, equal = n+p.n, equal+p.n*p.n
	}
	return pairs / (n*n - equal), below, above
}

// Coordinate returns the place of a point on the scale: distances are differences of coordinates. NaN: it has none.
func (s *Scale) Coordinate(point float64) float64 {
	switch {
	case !s.ratio:
		return point
	case point > 0:
		return math.Log(point)
	}
	return math.NaN()
}

// Step returns the step of the distance of two different coordinates: 1 if only a share ¼ of random pairs of different
// points are as near, 2 for ⅛, up to Steps; 0 if more are, or a coordinate is missing. How frequent a point is does not
// matter to the pairs of others, so a value that stands for an unknown one does not make others seem far.
func (s *Scale) Step(x, y float64) (step int) {
	d := math.Abs(x - y)
	for step < Steps && d <= s.within[step] {
		step++
	}
	return step
}

// Share returns the largest share of random pairs of different points that have a step or a further one.
func Share(step int) float64 { return math.Exp2(float64(1 - widest - step)) }

// Width returns the largest distance of a step of 1 or more.
func (s *Scale) Width(step int) float64 { return s.within[step-1] }
