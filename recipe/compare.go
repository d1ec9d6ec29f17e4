package recipe

import (
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/simjoin"
)

// A Comparer decides about pairs of non-empty documents. It is immutable and allocates
// nothing; any number of goroutines may use it.
type Comparer struct {
	threshold measure.Threshold
	banded    Banded
	estimate  func(a, b []uint32) float64 // for signatures without bands
	minEqual  int
	bits      int // of signatures that are compared by Hamming distance; 0 for other signatures
	distance  int
	rate      bool
}

// NewComparer returns a comparer. With rate every pair matches, whatever its similarity. A
// recipe that decides nothing rates pairs by signatures.
func (r Recipe) NewComparer(rate bool) *Comparer {
	c := &Comparer{threshold: r.threshold, banded: banded(r.sketch), rate: rate || r.verify == None || r.decision == byNothing}
	if s, ok := r.sketch.(Estimating); ok && c.banded == nil {
		c.estimate = s.Similarity
	}
	switch {
	case r.decision == byDistance, r.decision == byNothing && hammingBits(&r) > 0:
		c.bits, c.distance = hammingBits(&r), r.blocks.Distance()
	case r.decision == bySimilarity && c.banded != nil:
		c.minEqual = c.banded.MinEqual(r.threshold.Float())
	}
	return c
}

// Sets returns the similarity of two ascending sets by the threshold's measure, and whether
// the pair matches; if it does not, the similarity may be 0. The recipe must have a
// threshold.
func (c *Comparer) Sets(a, b []uint64) (similarity float64, wanted bool) {
	inter := 0
	if c.rate {
		inter, wanted = simjoin.Intersection(a, b), true
	} else if inter, wanted = simjoin.Verify(a, b, c.threshold); !wanted {
		return 0, false
	}
	return c.threshold.Measure().Similarity(uint64(inter), uint64(len(a)), uint64(len(b))), wanted
}

// Signatures returns the similarity that two signatures show, and whether the pair matches.
// The similarity is the estimate or, for signatures that are compared by Hamming distance,
// the share of equal bits. It panics for signatures that have neither; see [Banded],
// [Estimating] and [Hamming].
func (c *Comparer) Signatures(a, b []uint32) (similarity float64, wanted bool) {
	if c.bits > 0 {
		d := simhash.Distance(a, b)
		return float64(c.bits-d) / float64(c.bits), c.rate || d <= c.distance
	}
	if c.banded == nil {
		similarity = c.estimate(a, b)
		return similarity, c.rate || similarity >= c.threshold.Float()
	}
	equal := c.banded.Equal(a, b)
	return c.banded.Estimate(equal), c.rate || equal >= c.minEqual
}

// Equal returns the number of components in which two signatures agree, 0 for signatures
// without components.
func (c *Comparer) Equal(a, b []uint32) int {
	if c.banded == nil {
		return 0
	}
	return c.banded.Equal(a, b)
}
