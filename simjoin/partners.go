package simjoin

import (
	"math/bits"

	"github.com/alike-dev/alike/measure"
)

// withPartners returns, ascending, the sets that may reach the threshold with another one:
// the sets with enough tokens that are, or seem to be, in a second set. In a collection of
// different texts few remain, and finding them costs little compared with an index of all.
//
//		for every token of every set: mark its slot, or mark it a second time
//		for every set: count the tokens whose slot is marked twice
//
//	 1. A slot has two bits, and there are at least slotsAToken for each token: at most
//	    one in nine of the tokens that no other set has shares a slot by chance.
//	 2. If most tokens of the first sets are in several of them, as items of a shop
//	    are, the filter would remove nothing, so it is not applied. Recurring sentences
//	    show this only after a while: 740,000 fingerprints of them took 7.7 s to filter.
//	 3. If a set needs fewer tokens in common than share slots by chance, nothing is
//	    filtered: at Jaccard thresholds below 1/8, and for containment wherever a small
//	    set may be inside any other. There filtering took more than half of the time of a
//	    join of a newswire's stories (BenchmarkSelfJoinContainment).
//	 4. No branch depends on the data. 2000 fingerprints of 128 hashes are all joined
//	    in 0.9 ms, with an index of all of them in 4.1 (BenchmarkFingerprints).
func withPartners(sets [][]uint64, t measure.Threshold) []uint32 {
	t = t.Undirected()
	total, count, smallest := 0, 0, uint64(0)
	for _, set := range sets {
		if n := uint64(len(set)); n > 0 {
			total, count = total+len(set), count+1
			if smallest == 0 || n < smallest {
				smallest = n
			}
		}
	}
	// leastOverlap is the fewest elements that a set shares with any partner.
	leastOverlap := func(size uint64) uint64 { return t.MinOverlap(size, max(smallest, t.MinSize(size))) }
	if mean := uint64(total / max(count, 1)); leastOverlap(mean)*slotsAToken < mean {
		return allOf(sets)
	}
	if total > partnersSample && mostTwice(sets, max(partnersSample, total/partnersShare)) {
		return allOf(sets)
	}
	slots := newSlots(total)
	for _, set := range sets {
		slots.mark(set)
	}
	var left []uint32
	for i, set := range sets {
		if len(set) > 0 && uint64(slots.twice(set)) >= leastOverlap(uint64(len(set))) {
			left = append(left, uint32(i))
		}
	}
	return left
}

const (
	// partnersSample is the fewest tokens for which withPartners checks whether filtering pays,
	// and how many tokens that check looks up.
	partnersSample = 1 << 16
	// 1/partnersShare of all tokens is marked for the check.
	partnersShare = 16
)

func allOf(sets [][]uint64) []uint32 {
	all := make([]uint32, len(sets))
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

const (
	slotsAToken = 8
	// A word holds slotsAWord slots of two bits, the lower bit for the first mark.
	slotsAWord = 32
)

// slots holds the marks of tokens. The top bits of a multiplied token are its slot's number.
type slots struct {
	words []uint64
	shift uint
}

func newSlots(tokens int) slots {
	width := max(bits.Len(uint(slotsAToken*tokens)), 6)
	return slots{make([]uint64, 1<<width/slotsAWord), uint(64 - width)}
}

func (s *slots) mark(set []uint64) {
	words, shift := s.words, s.shift&63
	for _, x := range set {
		slot := x * spread >> shift
		w := &words[slot/slotsAWord]
		bit := uint64(1) << (slot % slotsAWord * 2)
		*w |= bit | *w&bit<<1
	}
}

// twice returns how many tokens of a set have slots that are marked twice.
func (s *slots) twice(set []uint64) int {
	words, shift := s.words, s.shift&63
	n := uint64(0)
	for _, x := range set {
		slot := x * spread >> shift
		n += words[slot/slotsAWord] >> (slot%slotsAWord*2 + 1) & 1
	}
	return int(n)
}

// mostTwice takes as many of the first sets as have the given number of tokens. It reports
// whether three of four of their last tokens are, or seem to be, in two of them.
func mostTwice(sets [][]uint64, tokens int) bool {
	slots := newSlots(tokens)
	marked, sample := 0, 0
	for i, set := range sets {
		slots.mark(set)
		if marked += len(set); marked >= tokens {
			sets = sets[:i+1]
			break
		}
	}
	n := 0
	for i := len(sets) - 1; i >= 0 && sample < partnersSample; i-- {
		n, sample = n+slots.twice(sets[i]), sample+len(sets[i])
	}
	return n > sample/4*3
}
