package simjoin

import (
	"iter"

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
