package minhash

import (
	"iter"
	"math"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
)

// The k-mins sketch by k permutations of the 32-bit words: with
// x' = the high half of Mix(x ^ key), component i comes from
//
//	min over x of  a[i]·x' + b[i] mod 2³²,   a[i] odd
//
// and is that minimum, mixed by a bijection. The mixing makes its low bits, all that a
// component of few bits keeps, depend on all its bits: bit 0 of a·x' + b is bit 0 of x',
// up to a constant, in all permutations at once.
//
// Features pass in blocks: simd.MixHigh makes x', simd.LowerAffine lowers all k minima by
// a block, 16 permutations to a vector register.
type multiplySketcher struct {
	k    int
	key  uint64
	mask uint32
	mul  []uint32 // a, rounded up to a multiple of simd.AffineLanes
	add  []uint32 // b
	low  []uint32 // the minima
	buf  []uint32 // the x' of a block
}

// kminsBlock is the number of features that pass through the kernels at once.
const kminsBlock = 512

func newMultiplySketcher(s Scheme) *multiplySketcher {
	n := (s.K() + simd.AffineLanes - 1) / simd.AffineLanes * simd.AffineLanes
	m := &multiplySketcher{
		k:    s.K(),
		key:  key(s.seed, streamFeature, 0),
		mask: s.mask(),
		mul:  make([]uint32, n),
		add:  make([]uint32, n),
		low:  make([]uint32, n),
		buf:  make([]uint32, kminsBlock),
	}
	for i := range m.mul {
		m.mul[i] = uint32(key(s.seed, streamMultiplier, i)>>32) | 1
		m.add[i] = uint32(key(s.seed, streamOffset, i) >> 32)
	}
	return m
}

// Sketch implements [Sketcher] in O(n·k).
func (m *multiplySketcher) Sketch(dst []uint32, features []uint64) {
	checkLength(dst, m.k)
	if len(features) == 0 {
		fillOnes(dst, m.mask)
		return
	}
	m.clear()
	m.lower(features)
	m.signature(dst)
}

// SketchSeq implements [SeqSketcher].
func (m *multiplySketcher) SketchSeq(dst []uint32, blocks iter.Seq[[]uint64]) {
	checkLength(dst, m.k)
	m.clear()
	empty := true
	for block := range blocks {
		m.lower(block)
		empty = empty && len(block) == 0
	}
	if empty {
		fillOnes(dst, m.mask)
		return
	}
	m.signature(dst)
}

func (m *multiplySketcher) clear() {
	for i := range m.low {
		m.low[i] = math.MaxUint32
	}
}

func (m *multiplySketcher) lower(features []uint64) {
	for len(features) > 0 {
		block := features[:min(kminsBlock, len(features))]
		features = features[len(block):]
		simd.MixHigh(m.buf, block, m.key)
		simd.LowerAffine(m.low, m.mul, m.add, m.buf[:len(block)])
	}
}

func (m *multiplySketcher) signature(dst []uint32) {
	for i, x := range m.low[:len(dst)] {
		dst[i] = mix32(x) & m.mask
	}
}

// fillOnes writes the signature of the empty set.
func fillOnes(dst []uint32, mask uint32) {
	for i := range dst {
		dst[i] = mask
	}
}

// mix32 is a bijection on 32-bit words in which every input bit changes every
// output bit with probability near one half (the finaliser of MurmurHash3).
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// Streams of keys, one for every use of a seed, so that no two uses share keys.
const (
	streamOPH uint64 = iota + 1
	streamFeature
	streamMultiplier
	streamOffset
	streamXOR
	streamComponent
	streamWeighted
)

// key returns the i-th key of a stream of a seed: SplitMix64 started at a mix of
// the two. Part of the format.
func key(seed, stream uint64, i int) uint64 {
	start := hashing.Mix(hashing.Mix(seed^hashing.Key0) + stream*hashing.Key1)
	return hashing.Mix(start + uint64(i+1)*0x9e3779b97f4a7c15)
}

func keys(seed, stream uint64, n int) []uint64 {
	ks := make([]uint64, n)
	for i := range ks {
		ks[i] = key(seed, stream, i)
	}
	return ks
}
