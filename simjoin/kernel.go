package simjoin

import (
	"math"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/measure"
)

// gallopRatio is the ratio of sizes above which looking up the smaller set's elements in
// the larger set is faster than merging (see BenchmarkIntersection).
const gallopRatio = 16

// checkEvery is the number of merge steps between two checks whether the threshold can
// still be reached.
const checkEvery = 32

// Intersection returns the number of elements that two sets share. The sets are sorted
// ascending without repeats. O(len(a)+len(b)), or O(s·log(l/s)) for sizes s and l whose
// ratio is 16 or more. It does not allocate.
func Intersection[T uint32 | uint64](a, b []T) int {
	n, _ := overlap(a, b, 0)
	return n
}

// Verify decides whether two sets, sorted ascending without repeats, reach t; if its
// measure is directed, whether a does so in b. When ok, inter is the exact size of the
// intersection; otherwise it is only a lower bound, because Verify stops as soon as
// either set has more unmatched elements than the threshold allows. The cost is at most
// that of Intersection. It does not allocate.
func Verify[T uint32 | uint64](a, b []T, t measure.Threshold) (inter int, ok bool) {
	return overlap(a, b, minOverlap(t, len(a), len(b)))
}

// minOverlap is t.MinOverlap for lengths.
func minOverlap(t measure.Threshold, a, b int) int {
	return int(min(t.MinOverlap(uint64(a), uint64(b)), math.MaxInt))
}

// overlap counts common elements and gives up when need is out of reach.
//
// If there is a vector kernel it compares blocks, see simd.OverlapBlocks, and merges the
// rest. The merge has no branch that depends on the data:
//
//		steps times:
//		    x, y = a[i], b[j]
//		    i += x ≤ y;  j += y ≤ x
//		common = i + j − steps, because only equal elements move both cursors
//
//	 1. Neither cursor moves more than once a step, so min(rest of a, rest of b)
//	    steps run without a test for the end; the test whether the threshold can still
//	    be reached is made together with that one.
//	 2. A step waits for the loads that the previous step chose. Long sets are cut in
//	    two at the same value and both halves merged in one loop, which overlaps
//	    the waiting: 1.9 times as fast on sets of 1000 (BenchmarkIntersection; the
//	    textbook merge, BenchmarkTextbookMerge, loses its time to mispredictions).
func overlap[T uint32 | uint64](a, b []T, need int) (int, bool) {
	if len(a) > len(b) {
		a, b = b, a
	}
	if need > len(a) {
		return 0, false
	}
	if len(b)/gallopRatio >= len(a) {
		n := gallop(a, b)
		return n, n >= need
	}
	spareA, spareB := len(a)-need, len(b)-need
	if common, i, j := simd.OverlapBlocks(a, b, spareA, spareB); i+j > 0 {
		if i-common > spareA || j-common > spareB {
			return common, false
		}
		return merge(a[i:], b[j:], common, spareA-(i-common), spareB-(j-common))
	}
	if len(a) < 2*checkEvery {
		return merge(a, b, 0, spareA, spareB)
	}
	m := len(a) / 2
	c := lowerBound(b, a[m])
	return mergeHalves(a[:m], b[:c], a[m:], b[c:], spareA, spareB)
}

// merge adds the common elements of a and b to n. It gives up when more than
// spareA elements of a or spareB of b have none.
func merge[T uint32 | uint64](a, b []T, n, spareA, spareB int) (int, bool) {
	i, j, done := 0, 0, 0
	for {
		steps := min(len(a)-i, len(b)-j, checkEvery)
		if steps == 0 {
			break
		}
		done += steps
		for ; steps > 0; steps-- {
			x, y := a[i], b[j]
			i += one(x <= y)
			j += one(y <= x)
		}
		// done − j = i − common, the elements of a passed without a partner.
		if done-j > spareA || done-i > spareB {
			return n + i + j - done, false
		}
	}
	common := i + j - done
	return n + common, len(a)-common <= spareA && len(b)-common <= spareB
}

// mergeHalves counts the common elements of a0 and b0 and of a1 and b1, in one loop while
// both last. Both halves together may leave spareA and spareB elements without a partner.
func mergeHalves[T uint32 | uint64](a0, b0, a1, b1 []T, spareA, spareB int) (int, bool) {
	var i0, j0, i1, j1, done int
	for {
		steps := min(len(a0)-i0, len(b0)-j0, len(a1)-i1, len(b1)-j1, checkEvery)
		if steps == 0 {
			break
		}
		done += 2 * steps
		for ; steps > 0; steps-- {
			x0, y0 := a0[i0], b0[j0]
			x1, y1 := a1[i1], b1[j1]
			i0 += one(x0 <= y0)
			j0 += one(y0 <= x0)
			i1 += one(x1 <= y1)
			j1 += one(y1 <= x1)
		}
		if done-j0-j1 > spareA || done-i0-i1 > spareB {
			return i0 + i1 + j0 + j1 - done, false
		}
	}
	common := i0 + i1 + j0 + j1 - done
	spareA -= done - j0 - j1
	spareB -= done - i0 - i1
	// One half is done; its rest has no partners.
	a, b, restA, restB := a0[i0:], b0[j0:], a1[i1:], b1[j1:]
	if len(a) == 0 || len(b) == 0 {
		a, b, restA, restB = restA, restB, a, b
	}
	return merge(a, b, common, spareA-len(restA), spareB-len(restB))
}

// one returns 1 for true and 0 for false, without a branch.
func one(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// gallop looks up every element of the small set in the rest of the large one, by
// doubling steps and then bisection.
func gallop[T uint32 | uint64](small, large []T) int {
	n := 0
	for _, x := range small {
		step := 1
		for step < len(large) && large[step] < x {
			step *= 2
		}
		// large[step/2] < x (or step is 1), and x ≤ large[step] if that exists.
		low := step / 2
		low += lowerBound(large[low:min(step+1, len(large))], x)
		large = large[low:]
		if len(large) == 0 {
			break
		}
		if large[0] == x {
			n++
			large = large[1:]
		}
	}
	return n
}

// lowerBound returns the number of elements below x.
func lowerBound[T uint32 | uint64](s []T, x T) int {
	low, n := 0, len(s)
	for n > 0 {
		half := n / 2
		if s[low+half] < x {
			low += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return low
}
