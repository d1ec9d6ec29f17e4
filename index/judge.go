package index

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// A judge decides whether a text and a document can be similar, from the signature or sketch of the document in
// memory. It does not change.
type judge struct {
	comparer *recipe.Comparer
	bySets   bool
	words    int // of a document in memory
	parts    int // by sets: of a sketch
}

// mostParts is the largest number of components in a sketch, and partBits their width.
const (
	mostParts = 128
	partBits  = 4
	inWord    = 32 / partBits
)

// newJudge returns the judge of a recipe that has keys.
//
// Where signatures decide, memory holds them. Where sets decide, it holds the lowest four
// bits of up to mostParts components. Two documents of Jaccard similarity s share s +
// (1−s)/16 of these (Li, König 2010). Sketches reject unrelated documents of a bucket, such
// as pages of one template, before their sets are made.
func newJudge(r recipe.Recipe) judge {
	j := judge{comparer: r.NewComparer(false), bySets: r.BySets(), words: r.Words()}
	if j.bySets {
		j.parts = min(r.Words(), mostParts)
		j.words = (j.parts + inWord - 1) / inWord
	}
	return j
}

// appendWords appends the words that memory holds of a signature.
func (j *judge) appendWords(dst, signature []uint32) []uint32 {
	if !j.bySets {
		return append(dst, signature...)
	}
	for i := 0; i < j.parts; i += inWord {
		w := uint32(0)
		for k, c := range signature[i:min(i+inWord, j.parts)] {
			w |= c & (1<<partBits - 1) << (k * partBits)
		}
		dst = append(dst, w)
	}
	return dst
}

// differingParts returns the number of parts in which two sketches differ.
func differingParts(a, b []uint32) (n int) {
	for i, w := range a {
		x := w ^ b[i]
		x |= x >> 1
		x |= x >> 2
		n += bits.OnesCount32(x & 0x11111111)
	}
	return n
}

// missed is the largest probability with which a sketch may reject a pair at the threshold.
const missed = 1e-6

// mostApart returns the number of parts in which the sketches of a pair at the threshold may
// differ: they differ in more with at most the probability missed.
func (j *judge) mostApart(r recipe.Recipe, t measure.Threshold) int {
	least, ok := t.LeastJaccard()
	if !j.bySets || !ok {
		return math.MaxInt
	}
	agree := max(r.Agreement(least), lsh.ComponentAgreement(least, partBits)) // components may have fewer bits
	n, p := float64(j.parts), 1-agree
	if p <= 0 {
		return 0
	}
	below := 0.0
	all, _ := math.Lgamma(n + 1)
	for apart := range j.parts {
		a, _ := math.Lgamma(float64(apart) + 1)
		b, _ := math.Lgamma(n - float64(apart) + 1)
		below += math.Exp(all - a - b + float64(apart)*math.Log(p) + (n-float64(apart))*math.Log1p(-p))
		if 1-below <= missed {
			return apart
		}
	}
	return j.parts
}
