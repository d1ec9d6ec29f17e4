package index

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// A judge decides about a text and the documents of the collection by what memory holds of
// them. It does not change.
type judge struct {
	comparer *recipe.Comparer
	bySets   bool
	words    int // of a document in memory
	parts    int // by sets: of a sketch
}

// mostParts is of how many components a sketch has a part, and partBits the size of that.
const (
	mostParts = 128
	partBits  = 4
	inWord    = 32 / partBits
)

// newJudge returns the judge of a recipe that has keys.
//
// Where signatures decide, memory holds them. Where sets do, it holds the lowest four bits of
// each of up to mostParts components, of which two documents of Jaccard similarity s share
// s + (1−s)/16 (Li, König 2010): that spares strangers in a bucket, such as pages of one
// template, the making of their sets.
func newJudge(r recipe.Recipe) judge {
	j := judge{comparer: r.NewComparer(false), bySets: r.BySets(), words: r.Words()}
	if j.bySets {
		j.parts = min(r.Words(), mostParts)
		j.words = (j.parts + inWord - 1) / inWord
	}
	return j
}

// appendWords appends what memory holds of a signature.
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

// apart returns in how many parts two sketches differ.
func apart(a, b []uint32) (n int) {
	for i, w := range a {
		x := w ^ b[i]
		x |= x >> 1
		x |= x >> 2
		n += bits.OnesCount32(x & 0x11111111)
	}
	return n
}

// missed is the probability with which a sketch may turn a pair at the threshold away.
const missed = 1e-6

// mostApart returns in how many parts the sketches of a pair at the threshold may differ: it
// is more with probability missed at most.
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
