// Package bands finds pairs of records by bands of weighted MinHash, for packages candidates and stage.
package bands

import (
	"math"

	"github.com/alike-dev/alike/internal/extsort"
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

// Bucketer emits the pairs of records with equal keys, on one goroutine.
type Bucketer struct {
	Across bool                    // pairs are of a record of the left table and one of the right
	Emit   func(l, r uint64) error // l < r in one table; a pair may come several times
	Capped int64                   // buckets of which not all pairs were emitted

	left, right []uint64 // members of a bucket; with one table all are left
	hubsLeft    []uint64 // first members of a bucket that comes in several parts
	hubsRight   []uint64
	within      bool // the next entries continue such a bucket
	err         error
}

// Part emits the pairs of entries as extsort.Sorted.Each delivers them: Key is a band key, Value a record,
// with RightBit if it is of the right table. Entries hold whole keys or, with one key only, a piece of it;
// more says that another piece follows. Each piece is paired with the first members of the first piece, as in
// any bucket over the cap.
func (b *Bucketer) Part(entries []extsort.Entry, more bool) error {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Key == entries[0].Key {
			n++
		}
		b.bucket(entries[:n], more)
		entries = entries[n:]
	}
	return b.err
}

func (b *Bucketer) bucket(entries []extsort.Entry, more bool) {
	b.left, b.right = b.left[:0], b.right[:0]
	for _, e := range entries {
		if e.Value&RightBit != 0 {
			b.right = append(b.right, e.Value&^RightBit)
		} else {
			b.left = append(b.left, e.Value)
		}
	}
	pieces := b.within || more
	if !b.within {
		b.hubsLeft = append(b.hubsLeft[:0], b.left[:min(lsh.Hubs, len(b.left))]...)
		b.hubsRight = append(b.hubsRight[:0], b.right[:min(lsh.Hubs, len(b.right))]...)
	} else if len(b.hubsRight) < lsh.Hubs { // members of the right come last
		b.hubsRight = append(b.hubsRight, b.right[:min(lsh.Hubs-len(b.hubsRight), len(b.right))]...)
	}
	small := pairsOf(b.left, b.right, b.Across) <= BucketMost*(BucketMost-1)/2 && !pieces
	if !small && !b.within {
		b.Capped++
	}
	b.within = more
	left, right := b.left, b.right
	switch {
	case small && b.Across:
		b.product(left, right)
	case small:
		for i := range left {
			b.product(left[i:i+1], left[i+1:])
		}
	case b.Across:
		b.product(left, b.hubsRight)
		for _, r := range right {
			for _, l := range b.hubsLeft {
				b.emit(l, r)
			}
		}
	default:
		b.product(b.hubsLeft, left)
	}
}

// pairsOf returns how many pairs a bucket has.
func pairsOf(left, right []uint64, across bool) int {
	if across {
		return len(left) * len(right)
	}
	return len(left) * (len(left) - 1) / 2
}

func (b *Bucketer) product(left, right []uint64) {
	for _, l := range left {
		for _, r := range right {
			b.emit(l, r)
		}
	}
}

// emit emits a pair. With one table, hubs are the first members.
func (b *Bucketer) emit(l, r uint64) {
	if b.err != nil || !b.Across && l >= r {
		return
	}
	b.err = b.Emit(l, r)
}
