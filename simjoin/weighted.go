package simjoin

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

// Weighted is a set whose features have integer weights: features ascending without
// repeats, each with its weight, from 1 on, and the sum of the weights, below 2⁴⁸. Make
// one with NewWeighted.
type Weighted struct {
	Features []uint64
	Weights  []uint32
	Size     uint64
}

// NewWeighted returns the weighted set of features and as many weights, which it keeps.
// O(len(weights)).
func NewWeighted(features []uint64, weights []uint32) Weighted {
	size := uint64(0)
	for _, w := range weights {
		size += uint64(w)
	}
	return Weighted{features, weights, size}
}

// IntersectionWeighted returns the sum of the lesser weights of the features that two
// weighted sets share. O(len(a.Features) + len(b.Features)). It does not allocate.
func IntersectionWeighted(a, b Weighted) uint64 {
	n, _ := overlapWeighted(a.Features, a.Weights, b.Features, b.Weights, noSpare, noSpare)
	return n
}

// VerifyWeighted decides whether two weighted sets reach t, for every measure: with the
// sums of weights for sizes WeightedJaccard and Jaccard are Σmin/Σmax. Where t is
// directed, it is whether a reaches it in b. When ok, inter is the exact
// IntersectionWeighted; otherwise it is only a lower bound, because VerifyWeighted stops
// as soon as either set has more weight without a partner than the threshold allows it.
func VerifyWeighted(a, b Weighted, t measure.Threshold) (inter uint64, ok bool) {
	need := t.MinOverlap(a.Size, b.Size)
	if need > a.Size || need > b.Size {
		return 0, false
	}
	inter, ok = overlapWeighted(a.Features, a.Weights, b.Features, b.Weights, a.Size-need, b.Size-need)
	return inter, ok && inter >= need
}

// noSpare is as much weight as no set can have.
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
// What of a is passed without a partner is passedA − common, of b passedB − common. It
// gives up, and says so, when that is more than spareA or spareB.
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
