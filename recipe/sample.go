package recipe

import (
	"math"

	"github.com/alike-dev/alike/internal/simd"
	"github.com/alike-dev/alike/minhash"
)

// NoKey stands for a key that a document does not have: one of fewer features than a
// sample has.
const NoKey = math.MaxUint64

// NewSampler returns a sketcher of samples of so many features, 1 to lsh.MaxSample: their
// features are those of the smallest hashes, and their keys are these hashes.
func NewSampler(size int) *minhash.BottomKSketcher {
	scheme, err := minhash.BottomK(minhash.XXH3, size, 64, minhash.DefaultSeed)
	if err != nil {
		panic("recipe: a sample that was valid is not: " + err.Error())
	}
	return scheme.NewBottomKSketcher()
}

// hashBlock is how many features are hashed at once.
const hashBlock = 512

// AppendSampleHashes appends the hashes of features in their order, of which the smallest
// are the keys of a document by its sample: one word a feature, but for a hash of all ones,
// which is left out. O(len(features)), and no allocation where dst has the room.
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
