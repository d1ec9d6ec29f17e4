package recipe

import (
	"math"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/minhash"
)

// NoKey replaces the missing keys of a document that has fewer features than a sample.
const NoKey = math.MaxUint64

// SampleSeed returns the seed by which features are drawn where a few stand for a document: that of the signature's
// scheme. A scheme without a seed, or with seed 0, has the default one.
func (r Recipe) SampleSeed() uint64 {
	if s, ok := r.sketch.(interface{ Seed() uint64 }); ok && s.Seed() != 0 {
		return s.Seed()
	}
	return minhash.DefaultSeed
}

// NewSampler returns a sketcher of samples of size features, 1 to lsh.MaxSample: the
// features with the smallest hashes under the seed. These hashes are the keys.
func NewSampler(size int, seed uint64) *minhash.BottomKSketcher {
	scheme, err := minhash.BottomK(minhash.XXH3, size, 64, seed)
	if err != nil {
		panic("recipe: a sample that was valid is not: " + err.Error())
	}
	return scheme.NewBottomKSketcher()
}

// hashBlock is how many features one call hashes.
const hashBlock = 512

// AppendSampleHashes appends the hashes of features under the seed, in their order; the smallest of them
// are the keys of a document by its sample. It leaves out a hash of all ones. One word a
// feature, O(len(features)), and no allocation if dst has the room.
func AppendSampleHashes(dst, features []uint64, seed uint64) []uint64 {
	flip := simd.XXH3Flip(seed)
	var hashes [hashBlock]uint64
	for len(features) > 0 {
		block := features[:min(hashBlock, len(features))]
		features = features[len(block):]
		n := simd.XXH3Below(hashes[:], block, flip, math.MaxUint64, NoKey)
		dst = append(dst, hashes[:n]...)
	}
	return dst
}
