package index

import (
	"math"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// A judge decides about a text and the documents of the collection by what memory holds of
// them. It does not change.
type judge struct {
	comparer *recipe.Comparer
	bySets   bool
	words    int // of a document in memory
	bits     int // by sets: of a sketch
}

// mostBits is the size of a sketch: the lowest bit of so many components.
const mostBits = 128

// newJudge returns the judge of a recipe that has keys.
//
// Where signatures decide, memory holds them. Where sets do, it holds a bit of each of up to
// mostBits components, of which two documents of Jaccard similarity s share (1+s)/2 (Li,
// König 2010): that spares most strangers in a bucket, such as pages of one template, the
// making of their sets.
func newJudge(r recipe.Recipe) judge {
	j := judge{comparer: r.NewComparer(false), bySets: r.BySets(), words: r.Words()}
	if j.bySets {
		j.bits = min(r.Words(), mostBits)
		j.words = (j.bits + 31) / 32
	}
	return j
}

// appendWords appends what memory holds of a signature.
func (j *judge) appendWords(dst, signature []uint32) []uint32 {
	if !j.bySets {
		return append(dst, signature...)
	}
	for i := 0; i < j.bits; i += 32 {
		w := uint32(0)
		for k, c := range signature[i:min(i+32, j.bits)] {
			w |= c & 1 << k
		}
		dst = append(dst, w)
	}
	return dst
}

// missed is the probability with which a sketch may turn a pair at the threshold away.
const missed = 1e-6

// mostApart returns in how many bits the sketches of a pair at the threshold may differ: it
// is more with probability missed at most.
func (j *judge) mostApart(t measure.Threshold) int {
	least, ok := t.LeastJaccard()
	if !j.bySets || !ok {
		return math.MaxInt
	}
	n, p := float64(j.bits), (1-least)/2 // a bit differs
	if p == 0 {
		return 0
	}
	below := 0.0
	all, _ := math.Lgamma(n + 1)
	for apart := range j.bits {
		a, _ := math.Lgamma(float64(apart) + 1)
		b, _ := math.Lgamma(n - float64(apart) + 1)
		below += math.Exp(all - a - b + float64(apart)*math.Log(p) + (n-float64(apart))*math.Log1p(-p))
		if 1-below <= missed {
			return apart
		}
	}
	return j.bits
}
