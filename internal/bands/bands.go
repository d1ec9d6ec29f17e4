// Package bands finds pairs of records by bands of weighted MinHash, for packages candidates and stage.
package bands

import (
	"math"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
)

const (
	// Components is the length of a signature. Bands use as many components as the recall needs.
	Components = 128
	seed       = 1
	// RightBit marks records of the right table.
	RightBit = 1 << 63
)

// BucketMost is the largest bucket of which all pairs are emitted.
var BucketMost = 1000 // tests take fewer

// Tune returns bands for the least similarity of a pair and a recall; 0: lsh.DefaultRecall.
func Tune(t measure.Threshold, recall float64) (lsh.Params, error) {
	return lsh.TuneFor(t, recall, Components, 32)
}

// A Keyer makes band keys of records, on one goroutine.
type Keyer struct {
	sketcher  *minhash.WeightedSketcher
	params    lsh.Params
	shift     int
	weights   []uint32
	signature []uint32
}

// NewKeyer returns a keyer. With squared it squares the weights, for Cosine, which is a ratio of sums
// of squares, and shifts the squares right by shift bits, so that they fit 32 bits.
func NewKeyer(p lsh.Params, squared bool, shift int) (*Keyer, error) {
	scheme, err := minhash.Weighted(Components, 32, seed)
	if err != nil {
		return nil, err
	}
	if !squared {
		shift = -1
	}
	return &Keyer{sketcher: scheme.NewWeightedSketcher(), params: p, shift: shift, signature: make([]uint32, Components)}, nil
}

// AppendKeys appends the keys of a record, given by the hashes of its tokens, in any order, and their
// weights.
func (k *Keyer) AppendKeys(dst, tokens []uint64, weights []uint32) []uint64 {
	k.weights = k.weights[:0]
	for _, weight := range weights {
		w := uint64(weight)
		if k.shift >= 0 {
			w = min(max(w*w>>k.shift, 1), math.MaxUint32)
		}
		k.weights = append(k.weights, uint32(w))
	}
	k.sketcher.SketchWeighted(k.signature, tokens, k.weights)
	return k.params.AppendKeys(dst, k.signature)
}
