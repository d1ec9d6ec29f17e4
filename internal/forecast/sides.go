package forecast

import (
	"math"

	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
)

// census counts classes by their sides. References count like inputs.
type census struct{ docs, left, right, both float64 }

func (c *census) add(policy *sides.Policy, rep uint32) {
	c.docs++
	if !policy.Apart() {
		return
	}
	if policy.Left(rep) {
		c.left++
	}
	if policy.Right(rep) {
		c.right++
	}
	if policy.Both(rep) {
		c.both++
	}
}

// pairs returns how many pairs may be compared.
func (c *census) pairs() float64 {
	if c.left+c.right == 0 { // one collection
		return c.docs * (c.docs - 1) / 2
	}
	return sides.Pairs(c.left, c.right, c.both)
}

// visitsAcross is visits for a join that indexes one of two collections and searches for the sets
// of the other one.
func (o *overlaps) visitsAcross(policy *sides.Policy, prefix func(size uint64) uint64) float64 {
	of := make([]struct{ left, right float64 }, len(o.ranked)) // by number of the token
	ranked := o.ranked
	for i, size := range o.sizes {
		for _, r := range ranked[:min(uint64(size), prefix(uint64(size)))] {
			if policy.Left(o.docs[i]) {
				of[uint32(r)].left++
			}
			if policy.Right(o.docs[i]) {
				of[uint32(r)].right++
			}
		}
		ranked = ranked[size:]
	}
	sum := 0.0
	for _, l := range of {
		sum += l.left * l.right
	}
	return sum
}

// hotWeightsAcross is hotWeights for two collections. A document of the sample stands for eachLeft
// or eachRight documents of its side.
func (by *Options) hotWeightsAcross(o *overlaps, eachLeft, eachRight float64) []float64 {
	left, right := make([]float64, len(o.sizes)), make([]float64, len(o.sizes)) // of the document's buckets
	count := func(bucket, member int, share float64) {
		if by.Sides.Left(o.docs[member]) {
			left[bucket] += share * eachLeft
		}
		if by.Sides.Right(o.docs[member]) {
			right[bucket] += share * eachRight
		}
	}
	for i := range o.sizes {
		count(i, i, 1) // and those that it stands for
	}
	o.eachPair(func(a, b, inter int) {
		share := math.Pow(by.agreement(inter, o.sizes[a]+o.sizes[b]-inter), float64(by.Recipe.Banding().Rows))
		count(a, b, share)
		count(b, a, share)
	})
	limit := float64(by.Cap) * float64(by.Cap-1) / 2
	weights := make([]float64, len(o.sizes))
	for i := range weights {
		weights[i] = 1
		if left[i]*right[i] > limit {
			weights[i] = min(1, lsh.Hubs/left[i])
		}
	}
	return weights
}
