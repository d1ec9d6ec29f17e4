package simjoin

// Weighted is a set whose features have integer weights: features ascending without
// repeats, each with its weight, at least 1, and the sum of the weights, below 2⁴⁸. Make
// one with NewWeighted.
type Weighted struct {
	Features []uint64
	Weights  []uint32
	Size     uint64
}

// NewWeighted returns the weighted set of the given features and weights, which must have
// equal lengths. It keeps both slices. O(len(weights)).
func NewWeighted(features []uint64, weights []uint32) Weighted {
	size := uint64(0)
	for _, w := range weights {
		size += uint64(w)
	}
	return Weighted{features, weights, size}
}

// IntersectionWeighted returns the sum, over the features that two weighted sets share,
// of the smaller weight. O(len(a.Features) + len(b.Features)). It does not allocate.
func IntersectionWeighted(a, b Weighted) uint64 {
	return overlapWeighted(a.Features, a.Weights, b.Features, b.Weights)
}

// overlapWeighted merges two weighted sets without branches that depend on the data:
//
//	steps times:
//	    x, y = a[i], b[j];  v, w = their weights
//	    common += x = y ? min(v, w) : 0
//	    i += x ≤ y;  j += y ≤ x
func overlapWeighted[T uint32 | uint64](fa []T, wa []uint32, fb []T, wb []uint32) (common uint64) {
	wa, wb = wa[:len(fa)], wb[:len(fb)]
	i, j := 0, 0
	for steps := min(len(fa), len(fb)); steps > 0; steps = min(len(fa)-i, len(fb)-j) {
		for ; steps > 0; steps-- {
			x, y, v, w := fa[i], fb[j], uint64(wa[i]), uint64(wb[j])
			left, right := one(x <= y), one(y <= x)
			common += min(v, w) & -uint64(left&right)
			i += left
			j += right
		}
	}
	return common
}
