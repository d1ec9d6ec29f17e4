package closeness

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
)

// A Shift is by how much the points of a right table exceed those of a left one that belong to them: the days between an order
// and its invoice, the rate of a currency, a tax. The zero Shift is none.
type Shift struct {
	Ratio bool    `json:"ratio,omitempty"` // By is the logarithm of a factor, else it is a difference
	By    float64 `json:"by,omitempty"`
}

const (
	// narrowest and widestMode are the steps of closeness whose widths a mode may have.
	narrowest, widestMode = Steps, 5
	// leastInMode is the least number of pairs in a mode; modeRate and modeBeyond are by how much it exceeds what chance makes,
	// as a factor and in standard deviations.
	leastInMode = 50
	modeRate    = 2
	modeBeyond  = 10
	// shuffles is how many times the points of pairs are paired at random.
	shuffles = 16
)

// FindShift returns the shift between the points of pairs of records that are alike, left[i] and right[i], of which some belong
// together; NaN is no point. It is the place of a narrow mode of their differences or, unless they are dates, of their ratios,
// that pairs of the same points at random do not have. ok is false if there is none, or about as many pairs have no
// difference. O(n log n).
func FindShift(left, right []float64, dates bool) (best Shift, ok bool) {
	most := 0.0
	for _, ratio := range []bool{false, true} {
		if ratio && dates {
			break
		}
		x, y := coordinates(left, right, ratio)
		if len(x) < leastInMode {
			continue
		}
		all := slices.Concat(x, y)
		points := make([]weighted, len(all))
		for i, at := range all {
			points[i] = weighted{at, 1}
		}
		sorting.Func(points, func(p, q weighted) int { return compareFloats(p.at, q.at) })
		if points[0].at == points[len(points)-1].at {
			continue
		}
		s := scaleOf(points, ratio)
		by, beyond, alone := mode(x, y, s)
		if beyond <= most {
			continue
		}
		most, best, ok = beyond, Shift{ratio, by}, alone
	}
	return best, ok
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// coordinates returns the points of pairs that have both, or their logarithms.
func coordinates(left, right []float64, ratio bool) (x, y []float64) {
	s := Scale{ratio: ratio}
	for i, a := range left {
		if a, b := s.Coordinate(a), s.Coordinate(right[i]); !math.IsNaN(a) && !math.IsNaN(b) {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

// mode returns the middle of the narrow range of differences that exceeds chance most, and by how many standard deviations; 0
// if none does. alone tells whether far fewer pairs exceed chance around no difference.
func mode(x, y []float64, s *Scale) (by, most float64, alone bool) {
	d := differences(x, y, 0)
	chance := make([]float64, 0, shuffles*len(x))
	for k := 1; k <= shuffles; k++ {
		chance = append(chance, differences(x, y, k*len(x)/(shuffles+1))...)
	}
	slices.Sort(d)
	slices.Sort(chance)
	for step := widestMode; step <= narrowest; step += 2 {
		width := s.within[step-1]
		if width <= 0 {
			continue
		}
		from := 0
		for i, low := range d {
			for from < len(d) && d[from] <= low+width {
				from++
			}
			n, expected := float64(from-i), (float64(between(chance, low, low+width))+1)/shuffles
			beyond := (n - expected) / math.Sqrt(expected)
			if n < leastInMode || n < modeRate*expected || beyond < modeBeyond || beyond <= most {
				continue
			}
			by, most = d[(i+from)/2], beyond
			none := float64(between(d, -width/2, width/2)) - float64(between(chance, -width/2, width/2))/shuffles
			alone = math.Abs(by) > width && none < (n-expected)/2
		}
	}
	return by, most, alone
}

// between returns how many sorted numbers are in a range.
func between(sorted []float64, low, high float64) int {
	from, _ := slices.BinarySearch(sorted, low)
	to, _ := slices.BinarySearch(sorted, math.Nextafter(high, math.Inf(1)))
	return to - from
}

// differences returns by how much right coordinates exceed the left ones so many places before them.
func differences(x, y []float64, places int) []float64 {
	d := make([]float64, len(x))
	for i, a := range x {
		d[i] = y[(i+places)%len(y)] - a
	}
	return d
}

// NewShiftedScale returns the scale of the points of two tables, of which each occurs so many times in either, as Shift makes
// them comparable; nil if there are too few different points.
func NewShiftedScale(points []float64, counts [2][]uint32, by Shift) *Scale {
	s := Scale{ratio: by.Ratio}
	var some []weighted
	for side, of := range counts {
		for _, p := range sample(points, of) {
			if x := s.Coordinate(p.at); !math.IsNaN(x) {
				some = append(some, weighted{x - float64(side)*by.By, p.n})
			}
		}
	}
	if len(some) < leastPoints {
		return nil
	}
	return scaleOf(some, by.Ratio)
}
