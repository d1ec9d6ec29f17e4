package minhash

import (
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
)

// The k-mins sketch by the permutations x' ⊕ r[i], x' = Mix(x ^ key): component i
// is Mix(x' ⊕ r[i]), low bits, of the x' at which x' ⊕ r[i] is least, so that it
// says which element that was.
//
// The minima of all k permutations together cost O(n + k):
//
//	throw the x' into m buckets, n/2 < m ≤ n a power of two, by their top bits
//	for every r:
//	    q = the top bits of r
//	    e = the least number such that bucket q ⊕ e is not empty
//	    the minimum is the x' of bucket q ⊕ e with the least x' ⊕ r
//
// because the top bits of x' ⊕ r decide first, and those are e. The x' are mixed,
// so buckets hold one or two elements and e is 0 most of the time. Repeated
// features are the exception: they crowd a few buckets, so these are sorted and
// rid of repeats, and if few elements are left, the buckets are made anew.
type xorSketcher struct {
	key   uint64
	mask  uint32
	r     []uint64
	words []uint64 // the x', bucket by bucket
	spare []uint64
	start []int32 // bucket j is words[start[j]:start[j+1]]
}

// crowded is the size of a bucket from which on repeats are looked for.
const crowded = 16

func newXORSketcher(s Scheme) *xorSketcher {
	return &xorSketcher{
		key:  key(s.seed, streamFeature, 0),
		mask: s.mask(),
		r:    keys(s.seed, streamXOR, s.K()),
	}
}

// Sketch implements [Sketcher] in O(n + k).
func (s *xorSketcher) Sketch(dst []uint32, features []uint64) {
	checkLength(dst, len(s.r))
	if len(features) == 0 {
		fillOnes(dst, s.mask)
		return
	}
	n := len(features)
	s.spare = slices.Grow(s.spare[:0], n+7)[:n+7] // MixBelow writes whole vectors
	s.spare = s.spare[:simd.MixBelow(s.spare, features, s.key, 1, math.MaxUint64)]
	s.bucket()
	for s.dropRepeats() {
		s.bucket()
	}
	shift := s.shift()
	for i, r := range s.r[:len(dst)] {
		dst[i] = uint32(hashing.Mix(s.least(r, shift))) & s.mask
	}
}

// shift returns how far right the top bits lie that tell the bucket of a word.
func (s *xorSketcher) shift() int { return 64 - bits.Len(uint(len(s.start)-2)) }

// bucket moves the words of spare, at least one, to their buckets in words.
func (s *xorSketcher) bucket() {
	n := len(s.spare)
	lg := bits.Len(uint(n)) - 1
	s.start = slices.Grow(s.start[:0], 1<<lg+1)[:1<<lg+1]
	clear(s.start)
	shift := 64 - lg
	for _, x := range s.spare {
		s.start[x>>shift]++
	}
	var sum int32
	for j, count := range s.start {
		sum += count
		s.start[j] = sum
	}
	// From each bucket's end downwards, which leaves start at its start.
	s.words = slices.Grow(s.words[:0], n)[:n]
	for _, x := range s.spare {
		j := x >> shift
		s.start[j]--
		s.words[s.start[j]] = x
	}
}

// dropRepeats rids crowded buckets of repeats. When fewer than half of the words
// remain it leaves them in spare and returns true: bucket them again.
func (s *xorSketcher) dropRepeats() bool {
	drop := false
	for j := range len(s.start) - 1 {
		drop = drop || s.start[j+1]-s.start[j] >= crowded
	}
	if !drop {
		return false
	}
	s.spare = s.spare[:0]
	from := s.start[0]
	for j := range len(s.start) - 1 {
		b := s.words[from:s.start[j+1]]
		if from = s.start[j+1]; len(b) >= crowded {
			slices.Sort(b)
			b = slices.Compact(b)
		}
		s.start[j] = int32(len(s.spare))
		s.spare = append(s.spare, b...)
	}
	s.start[len(s.start)-1] = int32(len(s.spare))
	if len(s.spare) < len(s.words)/2 {
		return true
	}
	s.words, s.spare = s.spare, s.words
	return false
}

// least returns the least x' ⊕ r.
func (s *xorSketcher) least(r uint64, shift int) uint64 {
	q := r >> shift
	for e := uint64(0); ; e++ {
		j := q ^ e
		b := s.words[s.start[j]:s.start[j+1]]
		if len(b) == 0 {
			continue
		}
		least := b[0] ^ r
		for _, x := range b[1:] {
			least = min(least, x^r)
		}
		return least
	}
}
