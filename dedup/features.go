package dedup

import (
	"iter"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/minhash"
)

// largeText is the length in bytes from which on the features of a text are used up
// as they come: there are more of them than the text has bytes.
const largeText = 1 << 20

// blockFeatures is how many features of such a text are made at once, 32 KiB.
const blockFeatures = 4 << 10

// summedFeatures sums up a document's features so that equal digests mean equal
// features: two sums over 64-bit hashes, the second of a product that is not
// linear in them. Order does not count, repeats do.
type summedFeatures struct {
	count  int
	digest [2]uint64
}

func digest(features []uint64) [2]uint64 {
	var sum summedFeatures
	sum.add(features)
	return sum.digest
}

func (s *summedFeatures) add(features []uint64) {
	sum, products := simd.Digest(features)
	s.count += len(features)
	s.digest[0] += sum
	s.digest[1] += products + uint64(len(features))
}

// needsSignature tells whether signatures are made of features.
func (r *reader) needsSignature() bool { return r.keepSigs || r.banding.Bands > 0 }

// sketch makes the features of a text, and their signature.
func (w *sketchWorker) sketch(text []byte) (sum summedFeatures) {
	w.features = w.shingler.AppendFeatures(w.features, text)
	w.watch.lap(stepFeatures)
	sum.add(w.features)
	if w.r.needsSignature() {
		w.sketcher.Sketch(w.signature, w.features)
	}
	w.watch.lap(stepSketch)
	return sum
}

// sketchInBlocks is sketch for a text of any length. The features are in memory as
// a whole only where the set of them is kept, or the scheme asks for it.
func (w *sketchWorker) sketchInBlocks(text []byte) (sum summedFeatures) {
	r := w.r
	whole := r.keepAll
	seq, inBlocks := w.sketcher.(minhash.SeqSketcher)
	switch {
	case r.needsSignature() && inBlocks:
		seq.SketchSeq(w.signature, func(yield func([]uint64) bool) {
			sum = summedFeatures{}
			for block := range w.blocksOf(text) {
				sum.add(block)
				if !yield(block) {
					return
				}
			}
		})
		w.watch.lap(stepSketch)
	default:
		for block := range w.blocksOf(text) {
			sum.add(block)
		}
		whole = whole || r.needsSignature()
	}
	switch {
	case r.keepSets.Load() && int64(sum.count) <= r.config.limits.retain:
		whole = true
	case !r.keepAll:
		r.keepSets.Store(false) // as addPiece will
	}
	if whole {
		w.features = w.shingler.AppendFeatures(make([]uint64, 0, sum.count), text)
	}
	w.watch.lap(stepFeatures)
	if r.needsSignature() && !inBlocks {
		w.sketcher.Sketch(w.signature, w.features)
		w.watch.lap(stepSketch)
	}
	return sum
}

// blocksOf makes the features of a text, block by block.
func (w *sketchWorker) blocksOf(text []byte) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		block := w.block[:0]
		defer func() { w.block = block }()
		for from := 0; from < len(text); {
			block, from = w.shingler.AppendFeaturesFrom(block, text, from)
			if len(block) >= blockFeatures || from == len(text) {
				if !yield(block) {
					return
				}
				block = block[:0]
			}
		}
	}
}

// trim gives back the memory that an uncommonly long text has left.
func (w *sketchWorker) trim() {
	w.parser.Trim()
	if cap(w.features) > w.r.config.limits.text {
		w.features = nil
	}
}
