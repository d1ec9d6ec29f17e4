package simjoin

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/measure"
)

// maxSquare bounds the sum of the squared weights of a vector. Sums of products of two
// vectors' weights then stay below it too (Cauchy-Schwarz), and measure.Threshold is
// exact for them: 1000 features may weigh up to 2²⁶ each, and a million 2²¹.
const maxSquare = 1 << 62

// Vector is a weighted set of a collection with its own dictionary: features are small
// numbers, ascending without repeats, each with its weight, at least 1.
type Vector struct{ Features, Weights []uint32 }

// Sum returns the sum of the weights, the size of a set for every measure but Cosine.
func (v Vector) Sum() (n uint64) {
	for _, w := range v.Weights {
		n += uint64(w)
	}
	return n
}

// Square returns the sum of the squared weights, the size of a set for Cosine.
func (v Vector) Square() (n uint64) {
	for _, w := range v.Weights {
		n += uint64(w) * uint64(w)
	}
	return n
}

// Size returns Square for Cosine and Sum for all other measures.
func (v Vector) Size(m measure.Measure) uint64 {
	if m == measure.Cosine {
		return v.Square()
	}
	return v.Sum()
}

// Overlap returns the overlap of two vectors: the sum of the products of weights for
// Cosine, and of the smaller weights for all other measures. A measure.Threshold decides
// by it and the vectors' sizes. O(features), without allocation.
func Overlap(a, b Vector, m measure.Measure) uint64 {
	if m == measure.Cosine {
		return dot(a, b)
	}
	return overlapWeighted(a.Features, a.Weights, b.Features, b.Weights)
}

// dot is the merge of overlap that sums products instead of counting.
func dot(a, b Vector) (sum uint64) {
	fa, fb := a.Features, b.Features
	wa, wb := a.Weights[:len(fa)], b.Weights[:len(fb)]
	for i, j := 0, 0; i < len(fa) && j < len(fb); {
		x, y := fa[i], fb[j]
		left, right := one(x <= y), one(y <= x)
		sum += uint64(wa[i]) * uint64(wb[j]) & -uint64(left&right)
		i += left
		j += right
	}
	return sum
}

// Vectors is a collection of vectors, one after the other: 8 bytes a feature and 8 a
// vector. The zero value is an empty collection. Any number of goroutines may read it
// while none appends.
//
// Users of a collection index arrays by feature numbers: number the features of a
// dictionary from 0 on. Collections that are joined share one dictionary.
type Vectors struct {
	ends     []int // of each vector
	features []uint32
	weights  []uint32
}

// Append copies a vector to the collection. It fails, and adds nothing, if the slices
// differ in length, features do not ascend, a weight is 0, or the sum of the squared
// weights exceeds maxSquare. A vector without features is similar to nothing.
func (v *Vectors) Append(features, weights []uint32) error {
	if err := checkVector(features, weights); err != nil {
		return err
	}
	v.features = append(v.features, features...)
	v.weights = append(v.weights, weights...)
	v.ends = append(v.ends, len(v.features))
	return nil
}

func checkVector(features, weights []uint32) error {
	if len(features) != len(weights) {
		return fmt.Errorf("simjoin: %d features with %d weights", len(features), len(weights))
	}
	square := uint64(0)
	for i, f := range features {
		w := uint64(weights[i])
		if w == 0 {
			return fmt.Errorf("simjoin: feature %d has weight 0: leave it out", f)
		}
		if i > 0 && f <= features[i-1] {
			return fmt.Errorf("simjoin: feature %d after %d: features must ascend", f, features[i-1])
		}
		sum, carry := bits.Add64(square, w*w, 0)
		if carry != 0 || sum > maxSquare {
			return fmt.Errorf("simjoin: the squared weights of %d features exceed 2^62: use smaller weights", len(features))
		}
		square = sum
	}
	return nil
}

// Len returns the number of vectors.
func (v *Vectors) Len() int { return len(v.ends) }

// Features returns the number of features of all vectors together.
func (v *Vectors) Features() int { return len(v.features) }

// At returns vector i. It is valid until Reset, and the caller must not change it.
func (v *Vectors) At(i int) Vector {
	start, end := 0, v.ends[i]
	if i > 0 {
		start = v.ends[i-1]
	}
	return Vector{v.features[start:end:end], v.weights[start:end:end]}
}

// Slice returns vectors from … to−1 as a collection that shares their memory: 8 bytes a
// vector. Do not append to either while the other is in use.
func (v *Vectors) Slice(from, to int) *Vectors {
	start, end := 0, 0
	if from > 0 {
		start = v.ends[from-1]
	}
	if to > 0 {
		end = v.ends[to-1]
	}
	s := &Vectors{features: v.features[start:end:end], weights: v.weights[start:end:end], ends: slices.Clone(v.ends[from:to])}
	for i := range s.ends {
		s.ends[i] -= start
	}
	return s
}

// Reset removes all vectors and keeps the memory.
func (v *Vectors) Reset() {
	v.ends, v.features, v.weights = v.ends[:0], v.features[:0], v.weights[:0]
}

// Grow makes room for the given numbers of further vectors and of their features.
func (v *Vectors) Grow(vectors, features int) {
	v.ends = slices.Grow(v.ends, vectors)
	v.features = slices.Grow(v.features, features)
	v.weights = slices.Grow(v.weights, features)
}

// overlapWeighted merges two weighted sets without branches that depend on the data:
//
//	steps times:
//	    x, y = a[i], b[j];  v, w = their weights
//	    common += x = y ? min(v, w) : 0
//	    i += x ≤ y;  j += y ≤ x
func overlapWeighted(fa, wa, fb, wb []uint32) (common uint64) {
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
