package minhash

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/simd"
)

// DefaultScale is the scale of a scaled scheme when none is given.
const DefaultScale = 1000

// Scaled is the scheme of scaled sketches, also called FracMinHash: all hashes of a set's
// features below 2⁶⁴/scale, about one in scale of them. Because the sketch grows with the
// set, it can tell which share of a small set is inside a large one, which sketches of a
// fixed size cannot: a feature that both sets have is in both sketches or in none. A
// sketch is a set like any other, ascending and without repeats, so package simjoin
// counts, joins and searches sketches by every measure.
//
// Like a Scheme it is immutable, compares with ==, and prints as one line; sketches may
// be compared only when their schemes are equal. [NewScaled] makes it;
// the zero Scaled is not valid.
//
// Sources: L. Irber, P. T. Brooks, T. Reiter, N. T. Pierce-Ward, M. Rahman Hera, D.
// Koslicki, C. T. Brown, "Lightweight compositional analysis of metagenomes with
// FracMinHash and minimum metagenome covers", bioRxiv 2022; M. Rahman Hera, N. T.
// Pierce-Ward, D. Koslicki, "Deriving confidence intervals for mutation rates across a
// wide range of evolutionary distances using FracMinHash", Genome Research 2023.
type Scaled struct{ scale, seed uint64 }

// NewScaled returns the scheme that keeps one hash in scale, at least 1. (Scale 1 keeps
// all but one of the 2⁶⁴ hashes.) Hashes are XXH3-64 with the seed, like those of
// [BottomK].
func NewScaled(scale, seed uint64) (Scaled, error) {
	if scale < 1 {
		return Scaled{}, errors.New("minhash: scale=0: one hash in 1 or more is kept")
	}
	return Scaled{scale, seed}, nil
}

// Scale returns s for a sketch that keeps one hash in s.
func (s Scaled) Scale() uint64 { return s.scale }

// Seed returns the seed of the hash function.
func (s Scaled) Seed() uint64 { return s.seed }

// String returns the canonical line: equal lines, equal schemes.
func (s Scaled) String() string {
	return fmt.Sprintf("minhash/scaled/v1 scale=%d seed=%d", s.scale, s.seed)
}

// bound returns the exclusive upper bound of kept hashes: 2⁶⁴/scale rounded up, and for
// scale 1 the largest word, so that a hash of all ones does not count.
func (s Scaled) bound() uint64 {
	return max(math.MaxUint64/s.scale, math.MaxUint64/s.scale+1) // the latter wraps around for scale 1
}

// scaledBlock is how many features are hashed at once.
const scaledBlock = 512

// AppendSketch appends the sketch of the set of features to dst: hashes ascending,
// without repeats. Features are in any order and may repeat; they are not changed. It
// costs O(len(features)) on average, and allocates nothing if dst has room for the sketch
// and 512 words more.
func (s Scaled) AppendSketch(dst, features []uint64) []uint64 {
	start := len(dst)
	flip, bound := simd.XXH3Flip(s.seed), s.bound()
	var kept [scaledBlock]uint64
	for len(features) > 0 {
		block := features[:min(scaledBlock, len(features))]
		features = features[len(block):]
		n := simd.XXH3Below(kept[:], block, flip, math.MaxUint64, bound)
		dst = append(dst, kept[:n]...)
	}
	return dst[:start+len(distinct.Sort(dst[start:]))]
}

// Containment estimates |A∩B|/|A| for two sets whose sketches share shared hashes, where
// the sketch of A has kept hashes. features is the number of A's features, or 0 if it is
// not known; then it is estimated. The estimate is 0 for an empty sketch.
//
// shared/kept has no bias if the sketch is not empty. The sketch of a set A that is not
// empty is empty with probability (1−1/s)^|A|, which makes the mean over all seeds too
// low by that factor: Containment divides by 1 − (1−1/s)^|A| (Hera, Pierce-Ward, Koslicki
// 2023), which matters only for sets of a few times s features or less. The result is
// clipped to 1.
func (s Scaled) Containment(shared, kept int, features uint64) float64 {
	if kept == 0 {
		return 0
	}
	n := float64(features)
	if features == 0 {
		n = float64(kept) * float64(s.scale)
	}
	notEmpty := -math.Expm1(n * math.Log1p(-1/float64(s.scale)))
	return min(float64(shared)/float64(kept)/notEmpty, 1)
}

// StandardError returns the standard deviation of shared/kept for two sets, one of which
// has a share c of its features in the other and a sketch of kept > 0 hashes:
// √(c(1−c)(1−1/s)/kept). The sketch is a sample of its set without replacement, one in s.
func (s Scaled) StandardError(c float64, kept int) float64 {
	return math.Sqrt(c * (1 - c) * (1 - 1/float64(s.scale)) / float64(kept))
}
