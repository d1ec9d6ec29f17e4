// Package recipe defines what "alike" means, in one value: how a text becomes features, how features become a
// signature, which keys of it find candidates, and what decides about a pair.
//
//	text → features → signature → keys        (Maker)
//	two sets or two signatures → decision     (Comparer)
//
// [New] makes a [Recipe] from Options, or [Parse] from its own line:
//
//	text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | bands=16 rows=6 | jaccard>=0.8 exact
//	text/v2 nfkc fold words n=5 unicode=15.0.0 | simhash/fastsimhash/v1 bits=64 | blocks keys=10 | hamming<=3
//
// Its parts are the features, the signature, the keys, and the decision. Schemes of texts, such as those of package
// exlsh, have one part instead of the first two. A recipe of signatures alone ends there. Recipes with equal lines
// treat every document and every pair in the same way, so the line can head an index, be the parameter of a job, or
// tell whether a run can continue from the results of another.
//
// A caller's own signature is a [Scheme], if it is made of features, or a [TextScheme]. It declares further abilities
// by the optional interfaces [Banded] and [Hamming].
//
// # What stays compatible
//
// The lines. One line always gives the same results.
package recipe

import (
	"errors"
	"fmt"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// Verify says how to establish the similarity of a pair.
type Verify string

// The ways of verifying.
const (
	Exact  Verify = "exact"  // by the two feature sets
	Sketch Verify = "sketch" // by the signatures' estimate, compared with the threshold
	None   Verify = "none"   // every candidate passes; the estimate is only reported
)

// Keys says which keys documents get.
type Keys string

// The choices of keys.
const (
	AnyKeys Keys = ""     // those of LSH, or none if these do not work and sets are compared
	LSH     Keys = "lsh"  // of bands, however selective they are, or by containment of samples
	NoKeys  Keys = "none" // none: the sets themselves find the pairs
)

// Options are the choices of a recipe. The zero value makes signatures of the default scheme and decides nothing.
type Options struct {
	Features shingle.Options
	Sketch   Scheme     // of features; nil: minhash.Default()
	Texts    TextScheme // if set, replaces both

	// Threshold decides by similarity; the zero value decides nothing.
	Threshold measure.Threshold
	Verify    Verify     // with Threshold; "": Exact
	Keys      Keys       // with Threshold
	Recall    float64    // in (0,1), for which bands or samples are tuned; 0: lsh.DefaultRecall
	Banding   lsh.Params // if set, replaces the tuned bands
	Sample    lsh.Sample // if set, replaces the tuned sample, by containment

	// Distance, if set, decides by the Hamming distance of signatures, at least 0, instead of Threshold and its options.
	Distance *int

	// Within is the field of a record within whose values documents are compared: see the type Within. "": all are compared.
	Within string
}

// A Recipe is immutable; any number of goroutines may use it. The zero value is not a recipe.
type Recipe struct {
	features shingle.Options
	sketch   Scheme
	texts    TextScheme

	decision  decision
	threshold measure.Threshold
	verify    Verify
	banding   lsh.Params     // zero: no keys of bands
	sample    lsh.Sample     // zero: no keys of samples
	blocks    simhash.Blocks // for decisions by distance
	within    string
}

// decision is the way in which a recipe decides.
type decision uint8

const (
	byNothing decision = iota
	bySimilarity
	byDistance
)

// New returns the recipe of the options, or an error that says which options do not fit together. If the scheme needs
// shingles of a certain hash and Features names none, New sets it.
func New(o Options) (Recipe, error) {
	if o.Texts != nil {
		o.Features, o.Sketch = shingle.Options{}, nil
	} else if err := o.settle(); err != nil {
		return Recipe{}, err
	}
	r := Recipe{features: o.Features, sketch: o.Sketch, texts: o.Texts, within: o.Within}
	if err := r.decide(o); err != nil {
		return Recipe{}, err
	}
	return r, nil
}

// settle fills in the default scheme and the hash that it needs.
func (o *Options) settle() error {
	if o.Sketch == nil {
		o.Sketch = minhash.Default()
	}
	if o.Features.Hash == "" {
		o.Features.Hash = featureHash(o.Sketch)
	}
	return errors.Join(Fits(o.Sketch, o.Features), o.Features.Validate())
}

// featureHash returns the hash of features that a scheme needs, "" if any will do.
func featureHash(s Scheme) shingle.Hash {
	if of, ok := s.(interface{ FeatureHash() string }); ok {
		return shingle.Hash(of.FeatureHash())
	}
	return ""
}

// Fits returns an error if a scheme needs features hashed in another way.
func Fits(s Scheme, features shingle.Options) error {
	if hash := featureHash(s); hash != "" && hash != features.Hash {
		return fmt.Errorf("%s is for shingles hashed by %s, not for those of %s: set Hash", s, hash, features)
	}
	return nil
}

// decide sets how the recipe decides, and chooses its keys.
func (r *Recipe) decide(o Options) (err error) {
	similarity := o.Threshold != (measure.Threshold{})
	switch {
	case o.Distance != nil && (similarity || o.Verify != "" || o.Keys != AnyKeys || o.Recall != 0 || o.Banding != (lsh.Params{}) || o.Sample != (lsh.Sample{})):
		return errors.New("recipe: a distance decides by itself: leave threshold, verify, keys, recall and bands out")
	case o.Distance != nil:
		r.decision = byDistance
		bits := hammingBits(r)
		if bits == 0 {
			return fmt.Errorf("recipe: signatures of %s are not compared by Hamming distance: take simhash, fastsimhash, or a preset exlsh-… or hash4j-…", r.Signature())
		}
		r.blocks, err = simhash.NewBlocks(bits, *o.Distance)
		return err
	case !similarity:
		return nil
	case r.texts != nil:
		return fmt.Errorf("recipe: signatures of %s have no components to estimate a similarity by: set a Hamming distance in place of the threshold", r.texts)
	}
	r.decision, r.threshold, r.verify = bySimilarity, o.Threshold, o.Verify
	switch r.verify {
	case "":
		r.verify = Exact
	case Exact, Sketch, None:
	default:
		return fmt.Errorf("recipe: verify is %q: choose one of %s, %s, %s", o.Verify, Exact, Sketch, None)
	}
	if r.verify != Exact && (o.Keys == NoKeys || banded(r.sketch) == nil) {
		return fmt.Errorf("recipe: verify %s needs candidates by the bands of a signature with components, such as %s", r.verify, minhash.Default())
	}
	if r.threshold.Measure().ByParts() { // samples find the documents: see lsh.Sample
		if r.verify != Exact {
			return fmt.Errorf("recipe: signatures do not estimate %v: verify %s", r.threshold.Measure(), Exact)
		}
		r.sample, err = chooseSample(o)
	} else {
		r.banding, err = r.chooseBanding(o)
	}
	return err
}

// chooseSample returns the sample to make keys of, the zero value for no keys of samples.
func chooseSample(o Options) (lsh.Sample, error) {
	switch {
	case o.Banding != (lsh.Params{}):
		return lsh.Sample{}, &lsh.BoundError{Threshold: o.Threshold}
	case o.Keys == NoKeys:
		return lsh.Sample{}, nil
	case o.Sample != (lsh.Sample{}):
		return o.Sample, o.Sample.Validate()
	}
	sample, err := lsh.TuneSample(o.Threshold, o.Recall)
	if errors.Is(err, lsh.ErrRecallOutOfReach) && o.Keys == AnyKeys {
		return lsh.Sample{}, nil
	}
	return sample, err
}

// chooseBanding returns the bands to make keys of, the zero value for no keys of bands.
func (r *Recipe) chooseBanding(o Options) (lsh.Params, error) {
	s := banded(r.sketch)
	switch {
	case o.Keys == NoKeys, s == nil && o.Keys == AnyKeys:
		return lsh.Params{}, nil
	case s == nil:
		return lsh.Params{}, fmt.Errorf("recipe: signatures of %s have no components to cut into bands", r.sketch)
	case o.Banding != (lsh.Params{}):
		return o.Banding, o.Banding.Validate(s.K())
	}
	recall := o.Recall
	if recall == 0 {
		recall = lsh.DefaultRecall
	}
	banding, err := lsh.TuneFor(r.threshold, recall, s.K(), s.Bits())
	outOfReach := errors.Is(err, lsh.ErrRecallOutOfReach) || errors.Is(err, lsh.ErrNoBound)
	if outOfReach && o.Keys == AnyKeys && r.verify == Exact {
		return lsh.Params{}, nil
	}
	return banding, err
}

// banded returns a scheme if it has bands, otherwise nil.
func banded(scheme Scheme) Banded {
	if s, ok := scheme.(Banded); ok && s.HasBands() {
		return s
	}
	return nil
}

// hammingBits returns the number of bits of signatures that are compared by Hamming distance, 0 for other signatures.
func hammingBits(r *Recipe) int {
	var scheme any = r.sketch
	if r.texts != nil {
		scheme = r.texts
	}
	if s, ok := scheme.(Hamming); ok {
		return s.HammingBits()
	}
	return 0
}

// Features returns how features are made; ok is false under a scheme of texts.
func (r Recipe) Features() (o shingle.Options, ok bool) { return r.features, r.texts == nil }

// Threshold returns the threshold, the zero value if no threshold decides.
func (r Recipe) Threshold() measure.Threshold { return r.threshold }

// Distance returns the Hamming distance up to which pairs match; ok is false if no distance decides.
func (r Recipe) Distance() (d int, ok bool) { return r.blocks.Distance(), r.decision == byDistance }

// BySets reports whether the two feature sets decide about a pair.
func (r Recipe) BySets() bool { return r.decision == bySimilarity && r.verify == Exact }

// Banding returns the bands that keys are made of, the zero value if they are not.
func (r Recipe) Banding() lsh.Params { return r.banding }

// Sample returns the sample that keys are made of, the zero value if they are not.
func (r Recipe) Sample() lsh.Sample { return r.sample }

// Keys returns the number of keys of a document, 0 if pairs are not found by keys.
func (r Recipe) Keys() int { return r.banding.Bands + r.blocks.Keys() + r.sample.Size }

// MinKeys returns the number of keys, at least 1, in which a pair must agree to be a candidate.
func (r Recipe) MinKeys() int { return max(r.banding.MinBands, r.sample.Agree, 1) }

// Agreement returns the probability that components of the signatures of two sets of the given Jaccard similarity
// agree, 0 for signatures without components.
func (r Recipe) Agreement(jaccard float64) float64 {
	if s := banded(r.sketch); s != nil {
		return lsh.ComponentAgreement(jaccard, s.Bits())
	}
	return 0
}

// Words returns the number of 32-bit words of a signature.
func (r Recipe) Words() int {
	if r.texts != nil {
		return (r.texts.Size() + 3) / 4
	}
	return r.sketch.Words()
}

// SignatureOptions returns the options of the part of the recipe that makes signatures.
func (r Recipe) SignatureOptions() Options {
	return Options{Features: r.features, Sketch: r.sketch, Texts: r.texts}
}

// DecodeBinary appends to dst a signature that AppendBinary has packed. It is an error if the bytes are not a
// signature, or if the scheme is not [Decoding].
func (r Recipe) DecodeBinary(dst []uint32, packed []byte) ([]uint32, error) {
	if r.texts == nil {
		if s, ok := r.sketch.(Decoding); ok {
			return s.DecodeBinary(dst, packed)
		}
		return dst, fmt.Errorf("recipe: signatures of %s cannot be read back", r.sketch)
	}
	if len(packed) != r.texts.Size() {
		return dst, fmt.Errorf("recipe: signature of %d bytes, want %d for %s", len(packed), r.texts.Size(), r.texts)
	}
	return appendBytes(dst, packed), nil
}

// AppendBinary appends a signature in the packed form of its scheme.
func (r Recipe) AppendBinary(dst []byte, signature []uint32) []byte {
	if r.texts != nil {
		size := len(dst) + r.texts.Size()
		return appendWords(dst, signature)[:size]
	}
	return r.sketch.AppendBinary(dst, signature)
}

// Recall returns the share of the pairs at a threshold that share keys enough to be found, on average over seeds, if their
// documents have k keys fewer than Keys. Pairs within a distance, and those that are found without keys, are all found.
func Recall(r Recipe, t measure.Threshold, k int) float64 {
	if _, hamming := r.Distance(); hamming || r.Keys() == 0 {
		return 1
	}
	if sample := r.Sample(); sample.Size > 0 {
		if sample.Size -= k; sample.Size < sample.Agree {
			return 0
		}
		return sample.Probability(t.Float())
	}
	banding := r.Banding()
	if banding.Bands -= k; banding.Bands < max(banding.MinBands, 1) {
		return 0
	}
	least, _ := t.LeastJaccard()
	return banding.Probability(r.Agreement(least))
}
