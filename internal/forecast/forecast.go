// Package forecast estimates, from a sample of the documents, the cost of finding all similar pairs, and
// decides by that which documents in buckets over the cap are joined exactly. The result depends only on
// the documents and the settings.
package forecast

import (
	"math"

	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// Options say how the documents are compared.
type Options struct {
	Recipe    recipe.Recipe
	Sides     *sides.Policy
	Threshold measure.Threshold
	Cap       int // members up to which a bucket votes for all its pairs
	// Share is the share of a collection that the documents are, if that is to be judged by them; 0 or 1: all
	// are there. It must be one collection.
	Share float64
	// Thin is the least thinning of their sets: features that Wants refuses may be missing.
	Thin uint
}

// Documents are representatives, in the order of the corpus.
type Documents interface {
	// Each visits all documents, by ascending numbers.
	Each(visit func(d Document)) error
	// Sets visits the feature sets of the documents of, whose numbers ascend. It may leave out features
	// that keep refuses. A set is valid during the visit.
	Sets(of []uint32, keep func(feature uint64) bool, visit func(number uint32, set []uint64)) error
}

// Document is what a forecast needs to know of a document.
type Document struct {
	Number   uint32
	Features uint32 // with repeats
	Digest   uint64 // of the features
}

// Forecast is the estimated work of finding the similar pairs of some documents, from all pairs of a
// sample of them.
type Forecast struct {
	docs, features float64 // of all documents; features with repeats
	distinct       float64 // features of the sets of all documents
	sides          census  // of all documents
	Edges          float64 // similar pairs
	visits         float64 // postings that an exact join goes through
	votes          float64 // of bands, for pairs
	met            float64 // candidate pairs: with at least one vote
	metAlike       float64 // candidate pairs that are similar
}

// A sample has a share of the documents, so that the forecast is cheap compared with the work itself;
// but at least sampleLeast of them, or a larger share of few documents, and at most sampleMost, or
// sampleFeatures features.
const (
	sampleShare    = 64
	sampleLeast    = 32
	sampleFew      = 16 // share of few
	sampleMost     = 256
	sampleGiven    = 128 // of a sample
	sampleFeatures = 1 << 18
)

// sampleTokens is about how many features of a sample are compared. Of larger sets a share is compared,
// chosen by hashes, which sets have in common as often as all features. Sorting them all would take a
// tenth of a run over a few long documents.
const sampleTokens = 1 << 15

// Of estimates the work on documents. O(documents), and the square of the sample.
func Of(by Options, documents Documents) (f Forecast, err error) {
	sample, f, err := by.sampleOf(documents)
	if err != nil {
		return f, err
	}
	o := overlaps{thin: max(by.Thin, thinning(float64(len(sample))*f.features/max(f.docs, 1)))}
	if err := documents.Sets(sample, o.wants, o.add); err != nil {
		return f, err
	}
	by.judge(&f, &o)
	return f, nil
}

// sampleOf chooses documents by a hash of their digests, so that the rest of the corpus does not matter, and
// counts all. Of two collections it takes a sample each: one may be much smaller than the other.
func (by *Options) sampleOf(documents Documents) (sample []uint32, f Forecast, err error) {
	var of [2]struct{ docs, features, share float64 } // by sides.Policy.Side
	var all census
	err = documents.Each(func(d Document) {
		s := &of[by.Sides.Side(d.Number)]
		s.docs++
		s.features += float64(d.Features)
		all.add(by.Sides, d.Number)
	})
	if err != nil {
		return nil, f, err
	}
	whole := 1.0
	if by.Share > 0 {
		whole = 1 / by.Share
	}
	for i := range of {
		s := &of[i]
		least := max(min(sampleLeast, s.docs/sampleFew), sampleLeast/4, s.docs/sampleShare)
		if whole > 1 { // they are a sample already
			least = sampleGiven
		}
		s.share = min(least, sampleMost, max(sampleFeatures*s.docs/max(s.features, 1), sampleLeast/2)) / max(s.docs, 1)
	}
	all.docs *= whole
	f = Forecast{docs: all.docs, features: whole * (of[0].features + of[1].features), sides: all}
	err = documents.Each(func(d Document) {
		if float64(hashing.Mix(d.Digest)>>32) < of[by.Sides.Side(d.Number)].share*(1<<32) {
			sample = append(sample, d.Number)
		}
	})
	return sample, f, err
}

// judge fills in the forecast from the pairs of the sample, each of which stands for the same number of
// pairs of all documents.
func (by *Options) judge(f *Forecast, o *overlaps) {
	n := float64(len(o.sizes))
	var sampled census
	for _, doc := range o.docs {
		sampled.add(by.Sides, doc)
	}
	if sampled.pairs() < 1 {
		return
	}
	o.count()
	for _, size := range o.sizes {
		f.distinct += float64(size) * float64(uint64(1)<<o.thin) * f.docs / n
	}
	scale := f.sides.pairs() / sampled.pairs()
	hot := by.hotWeights(o, (f.docs-1)/(n-1))
	if by.Sides.Apart() {
		hot = by.hotWeightsAcross(o, f.sides.left/sampled.left, f.sides.right/sampled.right)
	}
	o.eachPair(func(a, b, inter int) {
		if by.Sides.Apart() && !by.Sides.Meet(o.docs[a], o.docs[b]) {
			return
		}
		union := o.sizes[a] + o.sizes[b] - inter
		alike := by.Threshold.Reached(uint64(inter), uint64(o.sizes[a]), uint64(o.sizes[b]))
		if alike {
			f.Edges += scale
		}
		agree := by.agreement(inter, union)
		weight := scale * max(hot[a], hot[b])
		met := weight * by.Recipe.Banding().Probability(agree)
		f.met += met
		f.votes += weight * float64(by.Recipe.Banding().Bands) * math.Pow(agree, float64(by.Recipe.Banding().Rows))
		if alike {
			f.metAlike += met
		}
	})
	if by.Sides.Apart() {
		f.visits = scale * o.visitsAcross(by.Sides, by.Threshold.Prefix)
	} else {
		f.visits = scale * o.visits(by.Threshold.Prefix, by.Threshold.IndexPrefix)
	}
	f.visits *= float64(uint64(1) << o.thin)
}

// thinning returns how many bits of a feature's hash must be 0 for the feature to be compared.
func thinning(features float64) uint {
	return uint(max(math.Ceil(math.Log2(max(features, 1)/sampleTokens)), 0))
}

// agreement is the probability that components of two signatures agree.
func (by *Options) agreement(inter, union int) float64 {
	return by.Recipe.Agreement(float64(inter) / float64(union))
}

// hotWeights returns, for each document, the share of its pairs that its buckets vote for: 1 or, when
// the buckets are expected to be over the cap, the share that hubs leave. each is how many
// documents a document of the sample stands for.
func (by *Options) hotWeights(o *overlaps, each float64) []float64 {
	size := make([]float64, len(o.sizes)) // of the document's buckets, without the document itself
	o.eachPair(func(a, b, inter int) {
		share := each * math.Pow(by.agreement(inter, o.sizes[a]+o.sizes[b]-inter), float64(by.Recipe.Banding().Rows))
		size[a] += share
		size[b] += share
	})
	for i, s := range size {
		size[i] = 1
		if s > float64(by.Cap) {
			size[i] = 2 * lsh.Hubs / s
		}
	}
	return size
}

// overlaps is a small collection of sets of which all pairs are compared: feature after feature, so that
// pairs without a common feature cost nothing.
type overlaps struct {
	thin   uint     // a token counts if this many bits of its hash are 0
	docs   []uint32 // whose sets they are
	sizes  []int    // in tokens that count, set by count
	tokens []uint64 // a token's hash without the lowest setBits, and the number of a set that holds it
	shared []uint32 // tokens of sets a < b at a·len(sizes) + b
	ranked []uint64 // set<<48 | holders<<32 | number of a token that the set holds, ascending
}

// setBits is enough for the number of a set. The remaining bits identify a token; taking two tokens in
// 2⁴⁸ for one does not matter.
const setBits = 16

// Wants tells whether a token is compared at a thinning.
func Wants(token uint64, thin uint) bool { return hashing.Mix(token)&(1<<thin-1) == 0 }

// wants tells whether a token is compared. On 212 programs of 70 kB, a forecast spent most of its time
// sorting features that it did not need: 14 ms of a run's 60.
func (o *overlaps) wants(token uint64) bool { return Wants(token, o.thin) }

func (o *overlaps) add(doc uint32, set []uint64) {
	o.docs = append(o.docs, doc)
	for _, token := range set {
		if o.wants(token) {
			o.tokens = append(o.tokens, hashing.Mix(token)>>setBits<<setBits|uint64(len(o.sizes)))
		}
	}
	o.sizes = append(o.sizes, 0)
}

// count counts the common tokens of each two sets, and ranks each set's tokens by how many sets hold
// them.
func (o *overlaps) count() {
	o.tokens = distinct.Sort(o.tokens)
	n := len(o.sizes)
	for _, token := range o.tokens { // two tokens of a set that were taken for one are one now
		o.sizes[token%(1<<setBits)]++
	}
	o.shared = make([]uint32, n*n)
	o.ranked = make([]uint64, 0, len(o.tokens))
	number := uint64(0)
	for start := 0; start < len(o.tokens); number++ {
		end := start + 1
		for end < len(o.tokens) && o.tokens[end]>>setBits == o.tokens[start]>>setBits {
			end++
		}
		held := o.tokens[start:end]
		for i := range held {
			set := held[i] % (1 << setBits)
			o.ranked = append(o.ranked, set<<48|uint64(len(held))<<32|number)
			row := o.shared[int(set)*n:][:n]
			for _, other := range held[i+1:] {
				row[other%(1<<setBits)]++
			}
		}
		start = end
	}
	o.ranked = distinct.Sort(o.ranked) // which all differ
}

// eachPair calls visit for every pair of sets with common tokens. It needs count.
func (o *overlaps) eachPair(visit func(a, b, inter int)) {
	n := len(o.sizes)
	for a := range n {
		for b, inter := range o.shared[a*n:][:n] {
			if inter > 0 {
				visit(a, b, int(inter))
			}
		}
	}
}

// visits returns how many postings a prefix-filter join of the sets visits. It needs count.
func (o *overlaps) visits(prefix, indexPrefix func(size uint64) uint64) float64 {
	type lists struct{ probed, indexed float64 }
	of := make([]lists, len(o.ranked)) // by number of the token
	ranked := o.ranked
	for _, size := range o.sizes {
		for at, r := range ranked[:min(uint64(size), prefix(uint64(size)))] {
			l := &of[uint32(r)]
			l.probed++
			if uint64(at) < indexPrefix(uint64(size)) {
				l.indexed++
			}
		}
		ranked = ranked[size:]
	}
	sum := 0.0
	for _, l := range of {
		sum += l.indexed*l.probed - l.indexed
	}
	return sum / 2
}

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
