package minhash

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// Weighted MinHash by darts, after T. Christiani, "DartMinHash: Fast Sketching for
// Weighted Sets" (2020), with integers for its real weights.
//
// A feature x of weight w stands for its copies 0 … w−1. On the line of ranks, r ≥ 0,
// every copy of every feature has darts: a Poisson process of rate 1, fixed by a hash.
// Each dart falls into one of k bins. Component b is the number of the dart of least rank
// in bin b, among the copies that the set has.
//
// For two sets, that dart is uniform over the copies that either set has, Σ max(w, w') of
// them. The components agree when both sets have it, which holds for Σ min(w, w') copies:
//
//	P(component equal) = Σ min / Σ max,
//
// the weighted Jaccard similarity. The processes of different bins are independent, so
// the error is that of k independent components.
//
// Darts are made by the rectangle, not by the copy. Level v has the copies 2^(v−1) … 2^v
// − 1 (level 0 has copy 0), which are L copies. Cut along the ranks every 1/L, a level
// falls into cells of area 1, each with Poisson(1) darts:
//
//	copy │ level 3  ┌─┬─┬─┬─┬─┬─
//	   4 │          └─┴─┴─┴─┴─┴─
//	   2 │ level 2  └──┴──┴──┴──
//	   1 │ level 1  └────┴────┴─
//	   0 │ level 0  └────┴────┴─→ rank
//
//	W = Σ w;  until no bin is empty, for ranks up to limit ≈ k·ln(k)/W, then further:
//	    for every feature, every level that it reaches, every cell below the limit:
//	        for every dart of the cell below the limit whose copy the feature has:
//	            lower its bin
//
// All ranks below the limit are seen, so the least rank in a bin is final. A set throws
// about k·ln(k) darts that count, and, at each level that a feature reaches, the darts of
// one or two cells that may all lie beyond the limit: O(k·log k + n·log w), where
// replication costs Σ w.
//
// 1. One word decides how many darts a cell has, before any is made: 37 of 100 cells
//    are empty.
// 2. A dart's copy and rank both come from its first word, so that one that does not
//    count costs one more Mix.
//
// Sets of 1000 features take 18 (weights up to 2¹⁶) to 500 times (weights of 1) less time
// than ICWS (Ioffe 2010), which needs logarithms for every feature and component
// (BenchmarkWeighted, k = 128).

// A WeightedSketcher makes signatures of sets whose features have integer weights:
// components agree with the probability of the weighted Jaccard similarity Σmin/Σmax.
// It owns scratch memory, O(k), allocates nothing after it is made, and belongs to one
// goroutine.
type WeightedSketcher struct {
	k    int
	key  uint64
	mask uint32
	rank []float64 // least in each bin, infinite if none
	dart []uint32  // number of the dart with that rank
}

// NewWeightedSketcher returns a sketcher. It panics if the scheme is not of [Weighted].
func (s Scheme) NewWeightedSketcher() *WeightedSketcher {
	if s.method != methodWeighted {
		panic("minhash: " + s.String() + " is not a weighted scheme")
	}
	return &WeightedSketcher{
		k: s.K(), key: key(s.seed, streamWeighted, 0), mask: s.mask(),
		rank: make([]float64, s.K()), dart: make([]uint32, s.K()),
	}
}

// Sketch implements [Sketcher]: every feature has weight 1.
func (s *WeightedSketcher) Sketch(dst []uint32, features []uint64) {
	s.sketch(dst, features, nil, uint64(len(features)))
}

// SketchWeighted writes the signature of a set to dst, which has K components.
// weights[i], 0 to 2³²−1, is the weight of features[i]; a feature of weight 0 is not in
// the set, and a feature that repeats counts with its largest weight. The order does not
// matter. A set of total weight 0 gives components of all ones. It panics when the
// slices' lengths do not fit. O(k·log k + n·log w).
func (s *WeightedSketcher) SketchWeighted(dst []uint32, features []uint64, weights []uint32) {
	total := uint64(0)
	for _, w := range weights[:len(features)] {
		total += uint64(w)
	}
	s.sketch(dst, features, weights, total)
}

// sketch is SketchWeighted; if weights is nil, all weights are 1.
func (s *WeightedSketcher) sketch(dst []uint32, features []uint64, weights []uint32, total uint64) {
	checkLength(dst, s.k)
	if total == 0 {
		fillOnes(dst, s.mask)
		return
	}
	for b := range s.rank {
		s.rank[b] = math.Inf(1)
	}
	// With probability e^-3 some bin stays empty. The limit changes nothing but the time, so
	// rounding it does no harm.
	step := float64(s.k) * (math.Log(float64(s.k)) + 3) / float64(total)
	for from, limit := 0., step; ; from, limit = limit, limit+step/2 {
		for i, x := range features {
			w := uint32(1)
			if weights != nil {
				w = weights[i]
			}
			s.throw(x, w, from, limit)
		}
		if s.full() {
			break
		}
	}
	for b := range dst {
		dst[b] = s.dart[b] & s.mask
	}
}

func (s *WeightedSketcher) full() bool {
	for _, r := range s.rank {
		if math.IsInf(r, 1) {
			return false
		}
	}
	return true
}

// throw lowers the bins by those darts of a feature with ranks from … limit.
func (s *WeightedSketcher) throw(x uint64, weight uint32, from, limit float64) {
	seed := hashing.Mix(x ^ s.key)
	for level := range bits.Len32(weight) + 1 {
		first, shift := levelCopies(level)
		if first >= weight {
			return // also for weight 0
		}
		length := float64(uint64(1) << shift)
		cells := limit * length
		for i := uint64(from * length); float64(i) < cells; i++ {
			s.cell(seed, level, i, weight, cells)
		}
	}
}

// levelCopies returns the first copy of a level and log₂ of the number of its copies.
func levelCopies(level int) (first uint32, shift int) {
	if level == 0 {
		return 0, 0
	}
	return 1 << (level - 1), level - 1
}

// cell lowers the bins by the darts of a cell whose rank is below the limit, here counted
// in cells, and whose copy is below weight. Powers of two scale ranks without rounding
// them.
func (s *WeightedSketcher) cell(seed uint64, level int, i uint64, weight uint32, limit float64) {
	state := hashing.Mix(seed + (uint64(level)<<56|i)*hashing.Key0)
	n := poisson(state)
	if n == 0 {
		return
	}
	first, shift := levelCopies(level)
	width := 1 / float64(uint64(1)<<shift)
	for range n {
		state += dartStep
		at := hashing.Mix(state)
		place := float64(i) + float64(uint32(at))*0x1p-32
		if place >= limit || first+uint32(at>>32>>(32-shift)) >= weight {
			continue
		}
		number := hashing.Mix(state ^ hashing.Key3)
		bin, _ := bits.Mul64(number, uint64(s.k))
		s.lower(bin, place*width, uint32(number))
	}
}

// dartStep is the step from one dart's state to the next.
const dartStep = 0x9e3779b97f4a7c15

// lower puts a dart into its bin. Of two darts of equal rank the smaller number wins, so
// that the order of features does not matter.
func (s *WeightedSketcher) lower(bin uint64, rank float64, number uint32) {
	if old := s.rank[bin]; rank < old || rank == old && number < s.dart[bin] {
		s.rank[bin], s.dart[bin] = rank, number
	}
}

// poisson turns a uniform word into a number that is Poisson-distributed with mean 1.
func poisson(word uint64) int {
	n := 0
	for n < len(poissonBelow) && word > poissonBelow[n] {
		n++
	}
	return n
}

// poissonBelow[n] is ⌊2⁶⁴ · P(at most n)⌋ for mean 1, e^-1 · Σ 1/m! for m up to n.
var poissonBelow = [...]uint64{
	0x5e2d58d8b3bcdf1a, 0xbc5ab1b16779be35, 0xeb715e1dc1582dc2, 0xfb23979734a252f1,
	0xff1025f59174dc3d, 0xffd90f3ba4055e19, 0xfffa8b71fc72c913, 0xffff540c0914b3c9,
	0xffffed1f4aa8f120, 0xfffffe216e641462, 0xffffffd4d85d3183, 0xfffffffc6da262b4,
	0xffffffffba12d178, 0xfffffffffb07c64c, 0xffffffffffab8ea5, 0xfffffffffffabe22,
	0xffffffffffffb11a, 0xfffffffffffffba1, 0xffffffffffffffc5, 0xfffffffffffffffd,
}
