package advise

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// strangers is the number of documents of which all pairs are compared, and tailShare the share of the most similar
// of these pairs, whose similarities tell how fast they fall off.
const (
	strangers = 160
	tailShare = 0.02
)

// chance is how many pairs of texts that share no passage are similar. Similarities of unrelated texts are sums of
// many small agreements: beyond the body of their distribution their number falls off exponentially or faster. (What
// falls off more slowly shares passages, and is counted by the witness.)
type chance struct {
	from, scale float64 // the tail begins at from; it falls to a part in e within scale
	pairs       float64 // in the tail

	similar []float64 // of strangers, descending
	shared  float64   // features that strangers share, on average
}

// newChance compares strangers: documents of the sample, without the pairs that share passages. All pairs of the
// whole are those of so many distinct documents.
func newChance(sets [][]uint64, pairs []pair, m measure.Measure, distinct float64) chance {
	related := map[[2]uint32]bool{}
	n := uint32(min(strangers, len(sets)))
	for _, p := range pairs {
		if p.b < n && p.a < n {
			related[[2]uint32{p.a, p.b}] = true
		}
	}
	var c chance
	for a := range n {
		for b := a + 1; b < n; b++ {
			if !related[[2]uint32{a, b}] {
				common := simjoin.Intersection(sets[a], sets[b])
				c.shared += float64(common)
				c.similar = append(c.similar, m.Similarity(uint64(common), uint64(len(sets[a])), uint64(len(sets[b]))))
			}
		}
	}
	if len(c.similar) == 0 {
		return c
	}
	c.shared /= float64(len(c.similar))
	slices.SortFunc(c.similar, func(a, b float64) int { return cmp.Compare(b, a) })
	tail := c.similar[:int(math.Ceil(float64(len(c.similar))*tailShare))]
	c.from, c.pairs = tail[len(tail)-1], distinct*distinct/2*tailShare
	for _, s := range tail {
		c.scale += (s - c.from) / float64(len(tail))
	}
	return c
}

// above returns the expected number of pairs from a similarity on; below the tail it is that of the tail.
func (c chance) above(threshold float64) float64 {
	if c.scale == 0 {
		if threshold > c.from {
			return 0
		}
		return c.pairs
	}
	return c.pairs * math.Exp(-max(threshold-c.from, 0)/c.scale)
}
