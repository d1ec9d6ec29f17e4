package minhash

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/distinct"
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
// The sketch stops after the first round that leaves no bin empty, and component b is the low
// bits of bin b's value. Within a bin of rounds below k all h share their leading bits, so
// comparing h compares the fraction of h·k as well.
//
// Round 0 sees every feature and decides the speed for large sets, a few more rounds for sets
// of about k features, and many short rounds for small ones. Figures are for k = 128 and
// AVX-512, best of many runs:
//
//  1. Features go through simd.MixBelow in blocks that stay in the L1 cache. It
//     mixes eight at a time (0.09 ns a feature instead of 0.93) and passes on only
//     hashes that can still lower a bin: the fraction of h·k must not exceed the largest
//     fraction now in any bin. After n features that bound is about k·ln(k)/n, so
//     nearly nothing of a large set comes through (n = 50000: 0.25 ns a feature in
//     all). The bound is looked up again only when the number of features has
//     grown by a quarter.
//  2. Bins are lowered without a branch, which would be unpredictable for the first
//     features (0.7 ns a feature instead of 3.5), and four at a time (otherwise 1.3).
//  3. In later rounds simd.MixOpen passes on only hashes that fall into a bin that was
//     empty before the round, by a bit map that fits a vector register (0.3 ns a
//     feature instead of 1.8).
//  4. For sets smaller than k most bins are empty for many rounds. simd.MixRounds does
//     several rounds at once, as many as throw some multiple of k. It passes on the hashes
//     that fall into bins that were empty before all of them, each with its round. If
//     several fall into one bin the earliest round wins, without a branch (n = 7: 0.7 µs a
//     set instead of 1.1).
type ophSketcher struct {
	k        int
	mask     uint32
	key      []uint64 // 2k keys, one for each round
	bin      []uint64 // least value of each bin, none if it is empty
	stamp    []uint32 // round of the bin's value, when several rounds are thrown at once
	open     []uint64 // bit map of the bins that were empty before this round
	empty    int      // ones in open
	filled   []uint32 // bins that this round filled
	distinct []uint64 // scratch of dropRepeats
	buf      []uint64 // hashes that a kernel passed on
	bins     []uint64 // the bins of those hashes
}

const (
	// none marks an empty bin. A value equal to it does not count.
	none = math.MaxUint64
	// ophBlock is the number of features that pass through the kernels at once:
	// 4 KiB in, 4 KiB out.
	ophBlock = 512
	// throws is the number of features thrown in the first rounds, as a multiple of k: a share
	// of e^-throws of the bins stays empty.
	throws = 4
	// dragging is a round that a set of more than throws·k distinct features hardly ever
	// reaches: in all but one set in a thousand all bins are full before. A set that gets there
	// repeats a few features many times.
	dragging = 4
)

func newOPHSketcher(s Scheme) *ophSketcher {
	k := s.K()
	return &ophSketcher{
		k:      k,
		mask:   s.mask(),
		key:    keys(s.seed, streamOPH, 2*k),
		bin:    make([]uint64, k),
		stamp:  make([]uint32, k),
		open:   make([]uint64, max((k+63)/64, simd.OpenWords)),
		filled: make([]uint32, 0, k),
		buf:    make([]uint64, max(ophBlock, throws*k+8)),
		bins:   make([]uint64, throws*k+8),
	}
}

// Sketch implements [Sketcher] in O(n + k log k).
func (s *ophSketcher) Sketch(dst []uint32, features []uint64) {
	checkLength(dst, s.k)
	s.clear()
	if len(features) > 0 {
		s.fill(features)
	}
	s.signature(dst)
}

func (s *ophSketcher) clear() {
	for b := range s.bin {
		s.bin[b] = none
	}
}

func (s *ophSketcher) signature(dst []uint32) {
	for b, h := range s.bin[:len(dst)] {
		dst[b] = uint32(h) & s.mask
	}
}

// SketchSeq implements [SeqSketcher]. The first round takes the blocks as they come; a set of
// n distinct features leaves a bin empty with a probability of k·e^(−n/k). If it does, the
// distinct features are so few that they fit in memory.
func (s *ophSketcher) SketchSeq(dst []uint32, blocks iter.Seq[[]uint64]) {
	checkLength(dst, s.k)
	s.clear()
	o := s.newOpening()
	for block := range blocks {
		s.firstRound(&o, block)
	}
	if slices.Contains(s.bin, none) {
		s.Sketch(dst, distinctOf(blocks, 2*seqRound*s.k))
		return
	}
	s.signature(dst)
}

// seqRound is a number of features as a multiple of k: with so many distinct ones no bin is
// empty after the first round, except for one set in 10¹¹.
const seqRound = 32

// distinctOf returns the features of blocks without repeats, sorted. It drops repeats
// whenever it has limit features, to keep memory small.
func distinctOf(blocks iter.Seq[[]uint64], limit int) []uint64 {
	var all []uint64
	for block := range blocks {
		if all = append(all, block...); len(all) >= limit {
			all = distinct.Sort(all)
			limit = max(limit, 2*len(all))
		}
	}
	return distinct.Sort(all)
}

// fill throws the features until no bin is empty or all rounds are done.
func (s *ophSketcher) fill(features []uint64) {
	round := min(s.k, throws*s.k/len(features))
	switch {
	case round <= 2:
		o := s.newOpening()
		s.firstRound(&o, features)
		round = 1
	case s.k&(s.k-1) == 0 && s.k <= simd.MaxOpen && simd.HasVectorMix():
		round = s.fewRounds(features)
	case s.k&(s.k-1) == 0:
		s.roundsInTurn(round, features)
	default:
		s.firstRounds(round, features)
	}
	for s.findEmpty(); s.empty > 0 && round < s.k; round++ {
		if round == dragging && len(features) > throws*s.k {
			features = s.dropRepeats(features)
		}
		s.laterRound(round, features)
	}
	if s.empty > 0 {
		s.lastRounds(features)
	}
}

// dropRepeats returns the distinct features if they are at most throws·k, otherwise all
// features. Without it a text that repeats one sentence a million times would be thrown whole
// in each of up to 2k rounds, to fill as many bins as one sentence does.
func (s *ophSketcher) dropRepeats(features []uint64) []uint64 {
	set := s.distinct[:0]
	for chunk := range slices.Chunk(features, throws*s.k) {
		if set = distinct.Sort(append(set, chunk...)); len(set) > throws*s.k {
			return features
		}
	}
	s.distinct = set
	return set
}

// opening is the progress of the first round, over bins that are all empty before.
type opening struct {
	bound uint64 // on the fraction of h·k
	seen  int    // features so far
	look  int    // number of features at which to look up the bound again
}

func (s *ophSketcher) newOpening() opening { return opening{bound: none, look: 2 * s.k} }

// firstRound throws features in the first round.
func (s *ophSketcher) firstRound(o *opening, features []uint64) {
	for start := 0; start < len(features); {
		end := min(start+ophBlock, len(features))
		n := simd.MixBelow(s.buf, features[start:end], s.key[0], uint64(s.k), o.bound)
		if s.k == DefaultK {
			lower128((*[DefaultK]uint64)(s.bin), s.buf[:n])
		} else {
			lower(s.bin, s.buf[:n])
		}
		o.seen += end - start
		if start = end; o.seen >= o.look {
			o.bound = s.largestFraction()
			o.look = o.seen + o.seen/4
		}
	}
}

// lower128 lowers the bins of hashes for k = 128, where ⌊h·k / 2⁶⁴⌋ is a shift.
func lower128(bin *[DefaultK]uint64, hashes []uint64) {
	for ; len(hashes) >= 4; hashes = hashes[4:] {
		h := (*[4]uint64)(hashes)
		h0, h1, h2, h3 := h[0], h[1], h[2], h[3]
		bin[h0>>57] = min(bin[h0>>57], h0)
		bin[h1>>57] = min(bin[h1>>57], h1)
		bin[h2>>57] = min(bin[h2>>57], h2)
		bin[h3>>57] = min(bin[h3>>57], h3)
	}
	for _, h := range hashes {
		bin[h>>57] = min(bin[h>>57], h)
	}
}

// lower lowers the bins of hashes for any k.
func lower(bin, hashes []uint64) {
	k := uint64(len(bin))
	for _, h := range hashes {
		b, _ := bits.Mul64(h, k)
		if b < k { // always; tells the compiler so
			bin[b] = min(bin[b], h)
		}
	}
}

// largestFraction returns the largest fraction of h·k in any bin, as a multiple of 2^-64, and
// none if a bin is empty. No hash of a larger fraction can lower a bin.
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

// firstRounds throws the features for the given number of rounds into bins that are all empty
// before. It does the last round first, so that earlier values replace later ones.
func (s *ophSketcher) firstRounds(rounds int, features []uint64) {
	for r := rounds - 1; r >= 0; r-- {
		n := simd.MixBelow(s.buf, features, s.key[r], uint64(s.k), none)
		throwBack(s.bin, s.stamp, r, s.buf[:n])
	}
}

// throwBack throws the hashes of a round into bins whose values are from this round or later
// ones, as their stamps say.
func throwBack(bin []uint64, stamp []uint32, round int, hashes []uint64) {
	k := uint64(len(bin))
	stamp = stamp[:k]
	for _, h := range hashes {
		b, _ := bits.Mul64(h, k)
		if b >= k { // never; tells the compiler so
			break
		}
		old := bin[b]
		if stamp[b] != uint32(round) {
			old = none
		}
		bin[b] = min(old, h)
		stamp[b] = uint32(round)
	}
}

// fewRounds throws at most throws·k features in as many rounds at once as it needs, until no
// bin is empty or k rounds are done, and returns the number of rounds. All bins are empty
// before. k is a power of two, so all hashes of a bin share their top bits, which makes room
// for the round: the least value wins, whatever the order.
func (s *ophSketcher) fewRounds(features []uint64) int {
	n := len(features)
	round, step := 0, s.k
	for s.findEmpty(); s.empty > 0 && round < s.k; s.findEmpty() {
		end := min(round+max(step/n, 1), s.k)
		open := (*[simd.OpenWords]uint64)(s.open)
		m := simd.MixRounds(s.buf, s.bins, features, s.key[round:end], round, uint(bits.TrailingZeros(uint(s.k))), open)
		throw(s.bin, s.buf[:m], s.bins[:m])
		round, step = end, min(2*step, throws*s.k)
	}
	return round
}

// roundsInTurn is fewRounds for a given number of rounds, without vectors: there finding the
// empty bins takes longer than throwing.
func (s *ophSketcher) roundsInTurn(rounds int, features []uint64) {
	shift := 64 - uint(bits.TrailingZeros(uint(s.k)))
	low := uint64(1)<<shift - 1
	for r, key := range s.key[:rounds] {
		tag := uint64(r) << (shift & 63)
		for _, x := range features {
			h := hashing.Mix(x ^ key)
			if b := h >> (shift & 63); b < uint64(len(s.bin)) { // always; tells the compiler so
				s.bin[b] = min(s.bin[b], h&low|tag)
			}
		}
	}
}

func throw(bin, values, bins []uint64) {
	bins = bins[:len(values)]
	for i, v := range values {
		if b := bins[i]; b < uint64(len(bin)) { // always; tells the compiler so
			bin[b] = min(bin[b], v)
		}
	}
}

// findEmpty sets open and empty from the bins.
func (s *ophSketcher) findEmpty() { s.empty = simd.EmptyBins(s.open, s.bin) }

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

// place lowers the bins of hashes; the bins were open before the round.
func (s *ophSketcher) place(hashes []uint64) {
	k := uint64(s.k)
	for _, h := range hashes {
		b, _ := bits.Mul64(h, k)
		s.placeOne(b, h)
	}
}

// placeOne lowers bin b, which was open before the round, to h.
func (s *ophSketcher) placeOne(b, h uint64) {
	if s.bin[b] == none && h != none {
		s.filled = append(s.filled, uint32(b))
	}
	s.bin[b] = min(s.bin[b], h)
}

// closeFilled ends a round: the bins that it filled are no longer open.
func (s *ophSketcher) closeFilled() {
	for _, b := range s.filled {
		s.open[b>>6] &^= 1 << (b & 63)
	}
	s.empty -= len(s.filled)
	s.filled = s.filled[:0]
}

// lastRounds fills each bin that is still empty, with a round for each.
func (s *ophSketcher) lastRounds(features []uint64) {
	for i, word := range s.open {
		for ; word != 0; word &= word - 1 {
			b := 64*i + bits.TrailingZeros64(word)
			key := s.key[s.k+b]
			least := uint64(none)
			for _, x := range features {
				least = min(least, hashing.Mix(x^key))
			}
			s.bin[b] = least
		}
	}
}
