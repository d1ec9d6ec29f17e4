package simjoin

import (
	"iter"
	"math/bits"

	"github.com/alike-dev/alike/measure"
)

// SelfJoin finds all pairs of sets that reach the threshold. It returns them ordered by
// A, then B, and the caller may range over them any number of times. A is before B; for a
// directed measure A is inside B, and a pair that reaches the threshold in both
// directions is two matches. Memory is that of NewIndex, 24 bytes a match, of which 12
// remain, and 8 a set; before that, 2 to 4 bytes a token. For many equal sets, or many
// cores, use Index.Pairs.
//
// Sets that share too few tokens with all other sets are left out of the index.
func SelfJoin(sets [][]uint64, t measure.Threshold) iter.Seq[measure.Match] {
	left := withPartners(sets, t)
	few := sets
	if len(left) < len(sets) {
		few = make([][]uint64, len(left))
		for k, i := range left {
			few[k] = sets[i]
		}
	}
	x := NewIndex(few, t)
	found := make([]entry, 0, x.equals())
	x.eachPair(func(m measure.Match) {
		found = append(found, entry{left[m.A], left[m.B], uint32(m.Intersection)})
	})
	return sorted(found, sets, sets)
}

// equals returns the number of pairs of equal sets.
func (x *Index) equals() (n int) {
	for g := range x.Len() {
		m := len(x.Members(g))
		n += m * (m - 1) / 2
	}
	return n
}

// eachPair emits all pairs of sets with A before B; for a directed measure, all pairs
// with A inside B.
func (x *Index) eachPair(emit func(measure.Match)) {
	for g := range x.Len() {
		own, size := x.Members(g), uint64(x.Size(g))
		if !x.threshold.Reached(size, size, size) {
			continue
		}
		for i, a := range own {
			for _, b := range own[i+1:] {
				x.report(measure.Match{A: uint64(a), B: uint64(b), Intersection: size, SizeA: size, SizeB: size}, emit)
			}
		}
	}
	var p Prober
	for piece := range x.Pieces() {
		for m := range x.Pairs(&p, piece) {
			sizeA, sizeB := uint64(x.Size(m.A)), uint64(x.Size(m.B))
			for _, a := range x.Members(m.A) {
				for _, b := range x.Members(m.B) {
					x.report(measure.Match{A: uint64(a), B: uint64(b), Intersection: uint64(m.Intersection), SizeA: sizeA, SizeB: sizeB}, emit)
				}
			}
		}
	}
}

// report emits a pair that reaches the threshold in at least one direction: ordered by
// position, or, for a directed measure, once for each direction that reaches it.
func (x *Index) report(m measure.Match, emit func(measure.Match)) {
	if !x.directed && m.A < m.B {
		emit(m)
		return
	}
	turned := measure.Match{A: m.B, B: m.A, Intersection: m.Intersection, SizeA: m.SizeB, SizeB: m.SizeA}
	if !x.directed {
		emit(turned)
		return
	}
	for _, m := range [...]measure.Match{m, turned} {
		if x.threshold.Reached(m.Intersection, m.SizeA, m.SizeB) {
			emit(m)
		}
	}
}

// Join finds all pairs of a set A of left and a set B of right that reach the threshold.
// It returns them ordered by A, then B, and the caller may range over them any number of
// times. For a directed measure A is inside B; for the other direction too, use
// MaxContainment, and then Reached. Memory is that of NewSearchIndex for the side with
// fewer tokens, 24 bytes a match, of which 12 remain, and 8 a set.
func Join(left, right [][]uint64, t measure.Threshold) iter.Seq[measure.Match] {
	indexed, other := left, right
	turned := tokensIn(right) < tokensIn(left)
	if turned {
		indexed, other = right, left
	}
	x := NewSearchIndex(indexed, t)
	var found []entry
	var p Prober
	for i, set := range other {
		for _, m := range x.Search(&p, set) {
			a, b := uint64(m.Size), uint64(len(set))
			if turned {
				a, b = b, a
			}
			if !t.Reached(uint64(m.Intersection), a, b) {
				continue
			}
			for _, k := range x.Members(m.Group) {
				e := entry{k, uint32(i), m.Intersection}
				if turned {
					e.a, e.b = e.b, e.a
				}
				found = append(found, e)
			}
		}
	}
	return sorted(found, left, right)
}

func tokensIn(sets [][]uint64) (n int) {
	for _, set := range sets {
		n += len(set)
	}
	return n
}

// entry is a match during a join: less than a third of its size.
type entry struct{ a, b, inter uint32 }

// sorted returns the matches of entries, which it overwrites, by A, then B: two stable
// counting passes. O(len(left) + len(right) + len(found)).
func sorted(found []entry, left, right [][]uint64) iter.Seq[measure.Match] {
	other := make([]entry, len(found))
	start := make([]int, max(len(left), len(right)))
	for _, e := range found {
		start[e.b]++
	}
	sumBefore(start)
	for _, e := range found {
		other[start[e.b]] = e
		start[e.b]++
	}
	clear(start)
	for _, e := range other {
		start[e.a]++
	}
	sumBefore(start)
	for _, e := range other {
		found[start[e.a]] = e
		start[e.a]++
	}
	sizesA, sizesB := sizesOf(left), sizesOf(right)
	return func(yield func(measure.Match) bool) {
		for _, e := range found {
			if !yield(measure.Match{
				A: uint64(e.a), B: uint64(e.b), Intersection: uint64(e.inter),
				SizeA: uint64(sizesA[e.a]), SizeB: uint64(sizesB[e.b]),
			}) {
				return
			}
		}
	}
}

func sizesOf(sets [][]uint64) []uint32 {
	sizes := make([]uint32, len(sets))
	for i, set := range sets {
		sizes[i] = uint32(len(set))
	}
	return sizes
}

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
