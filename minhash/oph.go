package minhash

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
)

// Fast similarity sketching. In rounds i = 0 … k−1 every feature x is thrown into
// a random bin, in rounds i = k … 2k−1 into bin i−k:
//
//	h   = Mix(x ^ key[i])
//	bin = ⌊h·k / 2⁶⁴⌋  for i < k,  i−k  otherwise
//	bin's value = the least h of the earliest round that threw anything into it
//
// The sketch stops after the first round that leaves no bin empty, and component
// b is the low bits of bin b's value. Within a bin of rounds below k all h share
// their leading bits, so comparing h compares the fraction of h·k as well.
//
// Round 0 sees every feature and decides the speed for large sets, a few more
// rounds that for sets of k features, and many short rounds that for small ones:
//
//  1. Features go through simd.MixBelow in blocks that stay in the L1 cache. It
//     mixes eight at a time and passes on only what can still lower a bin: the
//     fraction of h·k must not exceed the largest fraction now in any bin. After
//     n features that bound is about k·ln(k)/n, so of a large set nearly nothing
//     comes through (n = 50000: 0.17 ns a feature instead of 0.6).
//  2. The bound is looked up again only when the number of features seen has grown
//     by a quarter.
//  3. Bins are lowered without a branch, since for the first k·ln(k) features
//     the branch would be a coin toss.
//  4. In later rounds simd.MixOpen passes on only what falls into a bin that was
//     empty before the round, by a bit map that fits a vector register.
//  5. For the smallest sets the loops change places: a feature is hashed for many
//     rounds at once (h is symmetric in x and key[i]).
type ophSketcher struct {
	k      int
	mask   uint32
	key    []uint64 // 2k keys, one a round
	bin    []uint64 // least value of each bin, none if it is empty
	open   []uint64 // bit map of the bins that were empty before this round
	empty  int      // ones in open
	filled []uint32 // bins that this round filled
	buf    []uint64 // what a kernel passed on
}

const (
	// none marks an empty bin. A feature with this very hash counts for nothing
	// in that round.
	none = math.MaxUint64
	// ophBlock is the number of features that pass through the kernels at once:
	// 4 KiB in, 4 KiB out.
	ophBlock = 512
	// tiny is the size of a set up to which hashing by feature is faster than
	// hashing by round.
	tiny = 8
	// tinyRounds is the number of rounds for which a feature is hashed at once.
	tinyRounds = ophBlock / tiny
)

func newOPHSketcher(s Scheme) *ophSketcher {
	k := s.K()
	return &ophSketcher{
		k:      k,
		mask:   s.mask(),
		key:    keys(s.seed, streamOPH, 2*k),
		bin:    make([]uint64, k),
		open:   make([]uint64, max((k+63)/64, simd.OpenWords)),
		filled: make([]uint32, 0, k),
		buf:    make([]uint64, ophBlock),
	}
}

// Sketch implements [Sketcher] in O(n + k log k).
func (s *ophSketcher) Sketch(dst []uint32, features []uint64) {
	dst = dst[:s.k:s.k]
	for b := range s.bin {
		s.bin[b] = none
	}
	if len(features) > 0 {
		s.fill(features)
	}
	for b, h := range s.bin[:len(dst)] {
		dst[b] = uint32(h) & s.mask
	}
}

// fill throws the features until no bin is empty or the rounds are used up.
func (s *ophSketcher) fill(features []uint64) {
	round := 0
	if len(features) > tiny {
		s.firstRound(features)
		round = 1
	}
	s.findEmpty()
	if len(features) <= tiny {
		s.tinyRounds(features)
	} else {
		for ; s.empty > 0 && round < s.k; round++ {
			s.laterRound(round, features)
		}
	}
	for b := 0; s.empty > 0 && b < s.k; b++ {
		if s.bin[b] == none {
			s.bin[b] = leastHash(features, s.key[s.k+b])
		}
	}
}

// leastHash returns the least Mix(x ^ key).
func leastHash(features []uint64, key uint64) uint64 {
	least := uint64(none)
	for _, x := range features {
		least = min(least, hashing.Mix(x^key))
	}
	return least
}

// firstRound throws all features into bins that are all empty before.
func (s *ophSketcher) firstRound(features []uint64) {
	bound, look := uint64(none), 2*s.k
	for start := 0; start < len(features); {
		end := min(start+ophBlock, len(features))
		n := simd.MixBelow(s.buf, features[start:end], s.key[0], uint64(s.k), bound)
		if s.k == DefaultK {
			lower128((*[DefaultK]uint64)(s.bin), s.buf[:n])
		} else {
			lower(s.bin, s.buf[:n])
		}
		if start = end; start >= look {
			bound = s.largestFraction()
			look = start + start/4
		}
	}
}

// lower128 lowers the bins of hashes for k = 128, where ⌊h·k / 2⁶⁴⌋ is a shift.
func lower128(bin *[DefaultK]uint64, hashes []uint64) {
	for _, h := range hashes {
		b := h >> 57
		bin[b] = min(bin[b], h)
	}
}

// lower lowers the bins of hashes for any k.
func lower(bin, hashes []uint64) {
	k := uint64(len(bin))
	for _, h := range hashes {
		b, _ := bits.Mul64(h, k)
		if b < k { // always; says so to the compiler
			bin[b] = min(bin[b], h)
		}
	}
}

// largestFraction returns the largest fraction of h·k in any bin, as a multiple
// of 2^-64, and none while a bin is empty. No hash of a larger fraction can lower
// a bin.
func (s *ophSketcher) largestFraction() uint64 {
	var largest uint64
	k := uint64(s.k)
	for _, h := range s.bin {
		if h == none {
			return none
		}
		largest = max(largest, h*k)
	}
	return largest
}

// findEmpty sets open and empty from the bins.
func (s *ophSketcher) findEmpty() {
	clear(s.open)
	s.empty = 0
	for b, h := range s.bin {
		if h == none {
			s.open[b>>6] |= 1 << (b & 63)
			s.empty++
		}
	}
}

// laterRound throws the features into the bins that are empty before the round.
func (s *ophSketcher) laterRound(round int, features []uint64) {
	key, k := s.key[round], uint64(s.k)
	for len(features) > 0 {
		block := features[:min(ophBlock, len(features))]
		features = features[len(block):]
		if s.k <= simd.MaxOpen {
			n := simd.MixOpen(s.buf, block, key, k, (*[simd.OpenWords]uint64)(s.open))
			s.place(s.buf[:n])
			continue
		}
		n := simd.MixBelow(s.buf, block, key, k, none)
		for _, h := range s.buf[:n] {
			if b, _ := bits.Mul64(h, k); s.open[b>>6]>>(b&63)&1 != 0 {
				s.placeOne(b, h)
			}
		}
	}
	s.closeFilled()
}

// place lowers the bins, open before the round, of hashes.
func (s *ophSketcher) place(hashes []uint64) {
	k := uint64(s.k)
	for _, h := range hashes {
		b, _ := bits.Mul64(h, k)
		s.placeOne(b, h)
	}
}

// placeOne lowers bin b, open before the round, to h.
func (s *ophSketcher) placeOne(b, h uint64) {
	if s.bin[b] == none && h != none {
		s.filled = append(s.filled, uint32(b))
	}
	s.bin[b] = min(s.bin[b], h)
}

// closeFilled ends a round: the bins that it filled are open no more.
func (s *ophSketcher) closeFilled() {
	for _, b := range s.filled {
		s.open[b>>6] &^= 1 << (b & 63)
	}
	s.empty -= len(s.filled)
	s.filled = s.filled[:0]
}

// tinyRounds throws at most tiny features, from round 0 on, tinyRounds rounds at
// a time.
func (s *ophSketcher) tinyRounds(features []uint64) {
	k := uint64(s.k)
	for start := 0; s.empty > 0 && start < s.k; start += tinyRounds {
		rounds := s.key[start:min(start+tinyRounds, s.k)]
		for f, x := range features {
			simd.MixBelow(s.buf[f*tinyRounds:], rounds, x, k, none)
		}
		for r := range rounds {
			for f := range features {
				h := s.buf[f*tinyRounds+r]
				if b, _ := bits.Mul64(h, k); s.open[b>>6]>>(b&63)&1 != 0 {
					s.placeOne(b, h)
				}
			}
			if s.closeFilled(); s.empty == 0 {
				return
			}
		}
	}
}
