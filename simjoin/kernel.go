package simjoin

import "math/bits"

// gallopRatio is the ratio of sizes above which looking the smaller set's
// elements up beats walking through the larger one (see BenchmarkIntersection).
const gallopRatio = 32

// checkEvery is the number of merge steps between two looks at whether the
// threshold is still within reach.
const checkEvery = 32

// Intersection returns the number of elements that two sets share. The sets are
// sorted ascending without repeats. O(len(a)+len(b)), or O(s·log(l/s)) for sizes
// s and l that differ more than 32 times. It does not allocate.
func Intersection(a, b []uint64) int {
	n, _ := overlap(a, b, 0)
	return n
}

// Verify decides whether the Jaccard similarity of two sets, sorted ascending
// without repeats, reaches t. When ok, inter is the exact size of the
// intersection; otherwise it is only a lower bound, because Verify stops as soon
// as either set has more unmatched elements than the threshold allows it. The
// cost is at most that of Intersection. It does not allocate.
func Verify(a, b []uint64, t Threshold) (inter int, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	return overlap(a, b, t.MinOverlap(len(a), len(b)))
}

// overlap counts common elements and gives up when fewer than need are certain.
//
// The merge has no branch that depends on the data: both cursors move by a
// comparison's carry.
//
//		while both sets have elements:
//		    x, y = a[i], b[j]
//		    i += x ≤ y;  j += y ≤ x;  common += x = y
//
//	 1. Neither cursor moves more than once a step, so min(rest of a, rest of b)
//	    steps run without a test for the end; the test for a threshold out of
//	    reach rides along with that one.
//	 2. A step waits for the loads that the step before chose. Long sets are cut in
//	    two at the same value and both halves merged in one loop, which overlaps
//	    the waiting.
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
	if len(a) < 2*checkEvery {
		return merge(a, b, need, 0, spareA, spareB)
	}
	m := len(a) / 2
	c := lowerBound(b, a[m])
	return mergeHalves(a[:m], b[:c], a[m:], b[c:], need, spareA, spareB)
}

// merge continues a count of n with single steps. spareA and spareB are the
// elements that may yet stay unmatched in a and b.
func merge[T uint32 | uint64](a, b []T, need, n, spareA, spareB int) (int, bool) {
	i, j, common := 0, 0, 0
	for {
		steps := min(len(a)-i, len(b)-j, checkEvery)
		if steps == 0 {
			return n + common, n+common >= need
		}
		for ; steps > 0; steps-- {
			x, y := uint64(a[i]), uint64(b[j])
			_, less := bits.Sub64(x, y, 0)
			_, more := bits.Sub64(y, x, 0)
			i += 1 - int(more)
			j += 1 - int(less)
			common += 1 - int(more) - int(less)
		}
		if i-common > spareA || j-common > spareB {
			return n + common, false
		}
	}
}

// mergeHalves merges a0 with b0 and a1 with b1 in one loop while both last.
func mergeHalves[T uint32 | uint64](a0, b0, a1, b1 []T, need, spareA, spareB int) (int, bool) {
	var i0, j0, i1, j1, common int
	for {
		steps := min(len(a0)-i0, len(b0)-j0, len(a1)-i1, len(b1)-j1, checkEvery)
		if steps == 0 {
			break
		}
		for ; steps > 0; steps-- {
			x0, y0 := uint64(a0[i0]), uint64(b0[j0])
			x1, y1 := uint64(a1[i1]), uint64(b1[j1])
			_, less0 := bits.Sub64(x0, y0, 0)
			_, more0 := bits.Sub64(y0, x0, 0)
			_, less1 := bits.Sub64(x1, y1, 0)
			_, more1 := bits.Sub64(y1, x1, 0)
			i0 += 1 - int(more0)
			j0 += 1 - int(less0)
			i1 += 1 - int(more1)
			j1 += 1 - int(less1)
			common += 2 - int(more0) - int(less0) - int(more1) - int(less1)
		}
		if i0+i1-common > spareA || j0+j1-common > spareB {
			return common, false
		}
	}
	// At least one half is done; its rest, if any, stays unmatched.
	spareA -= i0 + i1 - common
	spareB -= j0 + j1 - common
	a, b := a0[i0:], b0[j0:]
	if len(a) == 0 || len(b) == 0 {
		spareA, spareB = spareA-len(a), spareB-len(b)
		a, b = a1[i1:], b1[j1:]
	} else {
		spareA, spareB = spareA-len(a1[i1:]), spareB-len(b1[j1:])
	}
	if spareA < 0 || spareB < 0 {
		return common, false
	}
	return merge(a, b, need, common, spareA, spareB)
}

// gallop looks every element of the small set up in what is left of the large
// one, by doubling steps and then bisection.
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
