package recipe

import (
	"math"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/minhash"
)

// NoKey replaces the missing keys of a document that has fewer features than a sample.
const NoKey = math.MaxUint64

// NewSampler returns a sketcher of samples of size features, 1 to lsh.MaxSample: the
// features with the smallest hashes. These hashes are the keys.
func NewSampler(size int) *minhash.BottomKSketcher {
	scheme, err := minhash.BottomK(minhash.XXH3, size, 64, minhash.DefaultSeed)
	if err != nil {
		panic("recipe: a sample that was valid is not: " + err.Error())
	}
	return scheme.NewBottomKSketcher()
}

// hashBlock is how many features one call hashes.
const hashBlock = 512

// AppendSampleHashes appends the hashes of features in their order; the smallest of them
// are the keys of a document by its sample. It leaves out a hash of all ones. One word a
// feature, O(len(features)), and no allocation if dst has the room.
func AppendSampleHashes(dst, features []uint64) []uint64 {
	flip := simd.XXH3Flip(minhash.DefaultSeed)
	var hashes [hashBlock]uint64
	for len(features) > 0 {
		block := features[:min(hashBlock, len(features))]
		features = features[len(block):]
		n := simd.XXH3Below(hashes[:], block, flip, math.MaxUint64, NoKey)
		dst = append(dst, hashes[:n]...)
	}
	return dst
}
