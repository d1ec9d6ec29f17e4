package model

import (
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Graph has the candidates as edges between records, to find the rivals of a pair. With one table
// right is 0, and both ends of an edge are records of the left table.
type Graph struct {
	Pairs       []compare.Pair
	Left, Right int
}

// Mutual returns the edges that are the first choice of both of their records, by rank, then
// by the similarity of the records, then by order.
func (g Graph) Mutual(rank []float64, wholes []float32) []int {
	bestA := firstChoice(g.Left)
	bestB := bestA
	if g.Right > 0 {
		bestB = firstChoice(g.Right)
	}
	better := func(i, j int) bool {
		if j < 0 || rank[i] != rank[j] {
			return j < 0 || rank[i] > rank[j]
		}
		return wholes[i] > wholes[j]
	}
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

func firstChoice(n int) []int {
	best := make([]int, n)
	for i := range best {
		best[i] = -1
	}
	return best
}
