package advise

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/lsh"
)

// strangers is the number of documents of which all pairs are compared, and tailShare the share of the most similar
// of these pairs, whose similarities tell how fast they fall off; one in tailInner of these tells how much faster further out.
const (
	strangers = 240
	tailShare = 0.02
	tailInner = 8
	tailDoubt = 0.25 // by so much the inner tail may fall off more slowly than it seems, being of few pairs
)

// chance is how many pairs of texts that share no passage are similar. Similarities of unrelated texts are sums of
// many small agreements: beyond the body of their distribution their number falls off exponentially or faster. (What
// falls off more slowly shares passages, and is counted by the witness.)
type chance struct {
	from, scale float64 // the tail begins at from; it falls to a part in e within scale
	pairs       float64 // in the tail

	inner, hazard, rise float64 // from inner on it falls off at this rate, which rises so much; hazard is 0 if it falls off no faster

	similar []float64 // of strangers, descending
	shared  float64   // features that strangers share, on average
	held    holdings  // nil: costs are not by samples
}

// strangersOf draws documents, and returns the pairs of these that share no passages. (The first documents of a sample
// are no fair ones: documents come by a feature, and so with others that have it.) Pairs are ascending.
func (s *Sample) strangersOf(pairs []pair) (unrelated []pair) {
	drawn := make([]uint32, len(s.Documents))
	for i := range drawn {
		drawn[i] = uint32(i)
	}
	slices.SortFunc(drawn, func(a, b uint32) int {
		return cmp.Compare(hashing.Mix(s.Documents[a].digest), hashing.Mix(s.Documents[b].digest))
	})
	drawn = drawn[:min(strangers, len(drawn))]
	slices.Sort(drawn)
	for i, a := range drawn {
		for _, b := range drawn[i+1:] {
			if _, are := find(pairs, a, b); !are {
				unrelated = append(unrelated, pair{a: a, b: b})
			}
		}
	}
	return unrelated
}

// newChance takes how similar strangers are, and how many features each of their pairs shares. All pairs of the whole are
// those of so many distinct documents.
func newChance(similar []float64, common []int, distinct float64) (c chance) {
	if len(similar) == 0 {
		return c
	}
	for _, n := range common {
		c.shared += float64(n)
	}
	c.shared /= float64(len(common))
	c.similar = similar
	slices.Sort(c.similar)
	slices.Reverse(c.similar)
	c.pairs = distinct * distinct / 2 * tailShare
	c.from, c.scale = tailOf(c.similar, tailShare)
	inner, scale := tailOf(c.similar, tailShare/tailInner)
	if scale *= 1 + tailDoubt; inner > c.from && 0 < scale && scale < c.scale {
		c.inner, c.hazard, c.rise = inner, 1/scale, (1/scale-1/c.scale)/(inner-c.from)
	}
	return c
}

// tailOf returns where the tail of descending similarities begins that has a share of them, and within what it falls to a
// part in e: by its median, as a few of the pairs may share more than chance.
func tailOf(similar []float64, share float64) (from, scale float64) {
	tail := similar[:int(math.Ceil(float64(len(similar))*share))]
	from = tail[len(tail)-1]
	return from, (tail[(len(tail)-1)/2] - from) / math.Ln2
}

// above returns the expected number of pairs from a similarity on; below the tail it is that of the tail.
func (c chance) above(threshold float64) float64 {
	switch by := threshold - c.from; {
	case by <= 0:
		return c.pairs
	case c.scale == 0:
		return 0
	case c.hazard == 0:
		return c.pairs * math.Exp(-by/c.scale)
	case threshold < c.inner:
		return c.pairs * math.Pow(tailInner, -by/(c.inner-c.from))
	}
	by := threshold - c.inner
	return c.pairs / tailInner * math.Exp(-by*(c.hazard+c.rise*by/2))
}

// holdings tell, for each number of strangers, how many features so many of them have.
type holdings []float64

// heldLooked is the share of features that are counted, as one in so many, by their hashes.
const heldLooked = 8

// holdingsOf returns the holdings of the documents of pairs, with the number of these documents last.
func holdingsOf(sets [][]uint64, pairs []pair) holdings {
	var docs []uint32
	for _, p := range pairs {
		docs = append(docs, p.a, p.b)
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	var looked []uint64
	for _, doc := range docs {
		for _, v := range sets[doc] {
			if hashing.Mix(v)%heldLooked == 0 {
				looked = append(looked, v)
			}
		}
	}
	slices.Sort(looked)
	held := make(holdings, len(docs)+1)
	for len(looked) > 0 {
		n := 1
		for n < len(looked) && looked[n] == looked[0] {
			n++
		}
		held[n] += heldLooked
		looked = looked[n:]
	}
	return held
}

// votes returns how often a feature of the sample of a document, of size of all its features, is met in another document
// by chance, the share of all such meetings in which the feature is not over the cap, and whether one is.
func (h holdings) votes(size, features, documents float64) (n, share float64, hot bool) {
	strangers, all := float64(len(h)-1), 0.0
	for k, count := range h {
		if k < 2 {
			continue
		}
		holders := float64(k) / strangers * documents
		count *= min(size/features, 1) // samples are of the smallest hashes: a feature is in nearly all or in none
		met := count * holders * documents * float64(k-1) / (strangers - 1)
		all += met
		if 2*holders*holders > bucketCap*bucketCap {
			n, hot = n+count*2*lsh.Hubs*holders, true
		} else {
			n, share = n+met, share+met
		}
	}
	return n, share / max(all, 1), hot
}
