package dedup

import (
	"math"

	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// What is here is done otherwise for pairs between two collections (Config.With) than
// for those of one: where a loop over all pairs would pass over most of them.

// sided says on which sides some classes are.
type sided struct{ left, right bool }

func (s *sided) add(policy *sides.Policy, rep uint32) {
	s.left = s.left || policy.Left(rep)
	s.right = s.right || policy.Right(rep) || !policy.Apart()
}

// meet tells whether there is somebody on both sides. In one collection all are.
func (s *sided) meet() bool { return s.left && s.right }

// across votes for the pairs of a bucket that go from one side to the other. The bucket
// is over the cap if they are more than all pairs of limit documents: few on one side may
// well be compared with very many on the other.
func (v *bucketVoter) across(run []extsort.Entry, limit int) {
	v.members = v.members[:0]
	left, both := 0, 0
	for _, e := range run {
		doc := uint32(e.Value)
		v.members = append(v.members, doc)
		if v.sides.Left(doc) {
			left++
		}
		if v.sides.Both(doc) {
			both++
		}
	}
	right := len(run) - left + both
	switch pairs := sides.Pairs(left, right, both); {
	case pairs == 0:
	case int64(pairs) > int64(limit)*int64(limit-1)/2:
		v.g.capped.Add(1)
		v.hot(run)
		lsh.EachPair(v.members, limit, v.vote)
	default:
		v.eachAcross(v.members[:left], v.members[left:])
	}
}

// eachAcross votes for the pairs between those on the left, some of which may be on both
// sides, and those on the right only.
func (v *bucketVoter) eachAcross(left, right []uint32) {
	for _, a := range left {
		for _, b := range right {
			v.vote(a, b)
		}
		if !v.sides.Both(a) {
			continue
		}
		for _, b := range left {
			if b > a || b < a && !v.sides.Both(b) {
				v.vote(min(a, b), max(a, b))
			}
		}
	}
}

// side is one of two collections; of one collection all are on oneSide.
type side int

const (
	oneSide side = iota
	leftSide
	rightSide
)

// has tells whether a class is on the side.
func (s side) has(policy *sides.Policy, rep uint32) bool {
	switch s {
	case leftSide:
		return policy.Left(rep)
	case rightSide:
		return policy.Right(rep)
	}
	return true
}

func (s side) other() side {
	switch s {
	case leftSide:
		return rightSide
	case rightSide:
		return leftSide
	}
	return oneSide
}

// sideFeatures is how many features the documents of each side have. In one collection all
// are on both.
type sideFeatures struct{ left, right int64 }

func (s *sideFeatures) add(policy *sides.Policy, rep uint32, features int64) {
	if policy.Left(rep) {
		s.left += features
	}
	if policy.Right(rep) || !policy.Apart() {
		s.right += features
	}
}

// smallerSide returns the side on which some representatives have fewer features.
func (r *run) smallerSide(docs bitset) (side, error) {
	if !r.sides.Apart() {
		return oneSide, nil
	}
	var sum sideFeatures
	c := r.table.scanner()
	for doc := range uint32(r.table.n) {
		if docs.has(doc) {
			sum.add(&r.sides, doc, int64(c.doc(doc).features))
		}
	}
	if sum.left < sum.right {
		return leftSide, c.err
	}
	return rightSide, c.err
}

// metBefore tells whether a pair is found another time: two classes that are on both
// sides are indexed and searched for each. A class does not meet itself here.
func (j *joiner) metBefore(searched, indexed uint32) bool {
	return j.index != oneSide && searched <= indexed && j.r.sides.Both(searched) && j.r.sides.Both(indexed)
}

// census counts classes by their sides. References are counted as inputs are.
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

// pairs returns how many pairs may meet.
func (c *census) pairs() float64 {
	if c.left+c.right == 0 { // one collection
		return c.docs * (c.docs - 1) / 2
	}
	return sides.Pairs(c.left, c.right, c.both)
}

// visitsAcross is visits of a join that indexes one of two collections and searches for
// the sets of the other one.
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

// hotWeightsAcross is hotWeights of two collections. A document of the sample stands for
// so many of its side.
func (r *run) hotWeightsAcross(o *overlaps, eachLeft, eachRight float64) []float64 {
	left, right := make([]float64, len(o.sizes)), make([]float64, len(o.sizes)) // of the document's buckets
	count := func(bucket, member int, share float64) {
		if r.sides.Left(o.docs[member]) {
			left[bucket] += share * eachLeft
		}
		if r.sides.Right(o.docs[member]) {
			right[bucket] += share * eachRight
		}
	}
	for i := range o.sizes {
		count(i, i, 1) // and those like it
	}
	o.eachPair(func(a, b, inter int) {
		share := math.Pow(r.agreement(inter, o.sizes[a]+o.sizes[b]-inter), float64(r.recipe.Banding().Rows))
		count(a, b, share)
		count(b, a, share)
	})
	limit := float64(r.config.BucketCap) * float64(r.config.BucketCap-1) / 2
	weights := make([]float64, len(o.sizes))
	for i := range weights {
		weights[i] = 1
		if left[i]*right[i] > limit {
			weights[i] = min(1, lsh.Hubs/left[i])
		}
	}
	return weights
}
