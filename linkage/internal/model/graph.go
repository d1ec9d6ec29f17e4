package model

import (
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Graph has the candidates as edges between records, to find the rivals of a pair. With one table
// right is 0, and both ends of an edge are records of the left table.
type Graph struct {
	Pairs       []compare.Pair
	Left, Right int
	// Sources has the source of each record of the only table; nil: there are none. A source other than 0 has a thing once,
	// so the partners of a record in one source rule each other out.
	Sources []uint32
}

// Once tells which records have one partner at most.
type Once struct{ Left, Right bool }

func (o Once) Both() bool { return o.Left && o.Right }
func (o Once) Any() bool  { return o.Left || o.Right }

// Most returns the largest number of matches among so many left and right records.
func (o Once) Most(left, right int) int {
	switch {
	case o.Both():
		return min(left, right)
	case o.Left:
		return left
	}
	return right
}

// parted returns the graph in which a record is as many records as its partners have sources. Each record is on one side
// there, because that of the lesser source is the left one of a pair.
func (g Graph) parted() Graph {
	type end struct{ record, source uint32 }
	var left, right = map[end]uint32{}, map[end]uint32{}
	place := func(of map[end]uint32, e end) uint32 {
		if e.source == 0 { // not known: nothing is ruled out, so no other pair has this end
			e = end{uint32(len(of)), math.MaxUint32}
		}
		at, ok := of[e]
		if !ok {
			at = uint32(len(of))
			of[e] = at
		}
		return at
	}
	parted := Graph{Pairs: make([]compare.Pair, len(g.Pairs))}
	for i, p := range g.Pairs {
		if g.Sources[p.A] > g.Sources[p.B] {
			p.A, p.B = p.B, p.A
		}
		a, b := g.Sources[p.A], g.Sources[p.B]
		if a == 0 {
			b = 0
		}
		parted.Pairs[i] = compare.Pair{A: place(left, end{p.A, b}), B: place(right, end{p.B, a})}
	}
	parted.Left, parted.Right = len(left), len(right)
	return parted
}

// covered returns the graph of two tables that both are the only one: each record is on either side, and so is each edge. Messages
// along a path are there what they are in the graph itself.
func (g Graph) covered() Graph {
	twice := make([]compare.Pair, 0, 2*len(g.Pairs))
	twice = append(twice, g.Pairs...)
	for _, p := range g.Pairs {
		twice = append(twice, compare.Pair{A: p.B, B: p.A})
	}
	return Graph{Pairs: twice, Left: g.Left, Right: g.Left}
}

// Mutual returns the edges that are the first choice of both of their records, by rank, then
// by the similarity of the records, then by order; of the partners of one source, if there are sources.
func (g Graph) Mutual(rank []float64, wholes []float32) []int {
	if g.Sources != nil {
		g = g.parted()
	}
	bestA := firstChoice(g.Left)
	bestB := bestA
	if g.Right > 0 {
		bestB = firstChoice(g.Right)
	}
	better := func(i, j int) bool { return betterChoice(rank, wholes, i, j) }
	for i, p := range g.Pairs {
		if better(i, bestA[p.A]) {
			bestA[p.A] = i
		}
		if better(i, bestB[p.B]) {
			bestB[p.B] = i
		}
	}
	var both []int
	for i, p := range g.Pairs {
		if bestA[p.A] == i && bestB[p.B] == i {
			both = append(both, i)
		}
	}
	return both
}

// closest returns the edges of which no other one of either record has a higher rank. Of ten records that are the same, these are all
// 45 pairs, of which Mutual has one.
func (g Graph) closest(rank []float64) (edges []int) {
	bestA := make([]float64, g.Left)
	bestB := bestA
	if g.Right > 0 {
		bestB = make([]float64, g.Right)
	}
	for i, p := range g.Pairs {
		bestA[p.A], bestB[p.B] = max(bestA[p.A], rank[i]), max(bestB[p.B], rank[i])
	}
	for i, p := range g.Pairs {
		if rank[i] > 0 && rank[i] == bestA[p.A] && rank[i] == bestB[p.B] {
			edges = append(edges, i)
		}
	}
	return edges
}

// firsts returns the edges that are the first choice of their record that has one partner at most, where those of the other table may
// have several.
func (g Graph) firsts(rank []float64, wholes []float32, once Once) (edges []int) {
	end := Once{once.Right, once.Left}.other
	best := firstChoice(max(g.Left, g.Right))
	for i, p := range g.Pairs {
		if betterChoice(rank, wholes, i, best[end(p)]) {
			best[end(p)] = i
		}
	}
	for i, p := range g.Pairs {
		if best[end(p)] == i {
			edges = append(edges, i)
		}
	}
	return edges
}

// betterChoice tells whether a record chooses edge i rather than j; −1 is none.
func betterChoice(rank []float64, wholes []float32, i, j int) bool {
	if j < 0 || rank[i] != rank[j] {
		return j < 0 || rank[i] > rank[j]
	}
	return wholes[i] > wholes[j]
}

func firstChoice(n int) []int {
	best := make([]int, n)
	for i := range best {
		best[i] = -1
	}
	return best
}
