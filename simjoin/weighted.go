package simjoin

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

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
	n, _ := overlapWeighted(a.Features, a.Weights, b.Features, b.Weights, noSpare, noSpare)
	return n
}

// VerifyWeighted decides whether two weighted sets reach t, for every measure; sizes are
// sums of weights, so WeightedJaccard and Jaccard are both Σmin/Σmax. If t is directed,
// it decides whether a reaches it in b. When ok, inter is the exact IntersectionWeighted;
// otherwise it is only a lower bound, because VerifyWeighted stops as soon as either set
// has more weight without a partner than the threshold allows.
func VerifyWeighted(a, b Weighted, t measure.Threshold) (inter uint64, ok bool) {
	need := t.MinOverlap(a.Size, b.Size)
	if need > a.Size || need > b.Size {
		return 0, false
	}
	inter, ok = overlapWeighted(a.Features, a.Weights, b.Features, b.Weights, a.Size-need, b.Size-need)
	return inter, ok && inter >= need
}

// noSpare is more weight than any set can have.
const noSpare = math.MaxUint64

// overlapWeighted is overlap for weighted sets: the merge without branches that depend
// on the data.
//
//	steps times:
//	    x, y = a[i], b[j];  v, w = their weights
//	    common  += x = y ? min(v, w) : 0
//	    passedA += x ≤ y ? v : 0;  passedB += y ≤ x ? w : 0
//	    i += x ≤ y;  j += y ≤ x
//
// The weight of a passed without a partner is passedA − common, that of b passedB −
// common. It gives up and returns false when one exceeds spareA or spareB.
func overlapWeighted[T uint32 | uint64](fa []T, wa []uint32, fb []T, wb []uint32, spareA, spareB uint64) (uint64, bool) {
	wa, wb = wa[:len(fa)], wb[:len(fb)]
	var common, passedA, passedB uint64
	i, j := 0, 0
	for {
		steps := min(len(fa)-i, len(fb)-j, checkEvery)
		if steps == 0 {
			break
		}
		for ; steps > 0; steps-- {
			x, y, v, w := fa[i], fb[j], uint64(wa[i]), uint64(wb[j])
			left, right := one(x <= y), one(y <= x)
			common += min(v, w) & -uint64(left&right)
			passedA += v & -uint64(left)
			passedB += w & -uint64(right)
			i += left
			j += right
		}
		if passedA-common > spareA || passedB-common > spareB {
			return common, false
		}
	}
	return common, true
}
