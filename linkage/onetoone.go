package linkage

import (
	"math"

	"github.com/alike-dev/alike/internal/assignment"
)

// Assignment says how the links of OneToOne were chosen: the number of connected groups of records,
// and how many of these were solved greedily.
type Assignment = assignment.Summary

const (
	// Assigned is the largest number of records in a connected component whose links are chosen together.
	Assigned = 1000
	// leastProbability is the least probability of an edge that connects records to a component. Without this
	// bound improbable edges would connect nearly all records to one component.
	leastProbability = 1e-3
)

// oneToOne returns edges that share no record. Within each connected component of edges with a probability of worth
// or more, they are the edges with the largest expected number of right links, that is, the largest sum of
// probabilities, then of similarities. In components of more than Assigned records, and in one table in components
// with a cycle of odd length, it takes the best edge, then the best edge between the remaining records, and so on.
// In the same way it then takes edges of lower probability between records that are still free.
func (g graph) oneToOne(probability, rank []float64, wholes []float32) ([]int, assignment.Summary) {
	var numbers []int
	var edges []assignment.Edge
	right := uint32(0) // the node of the first right record, after all left ones
	if g.right > 0 {
		right = uint32(g.left)
	}
	for i, p := range g.pairs {
		if probability[i] >= leastProbability {
			// 10⁹ · 2²⁰ · (Assigned / 2) is below 2⁶².
			weight := int64(math.Round(probability[i]*1e9))<<20 + int64(math.Round(float64(wholes[i])*1e3))
			numbers = append(numbers, i)
			edges = append(edges, assignment.Edge{A: p.a, B: right + p.b, Weight: weight})
		}
	}
	matched, summary := assignment.Match(edges, g.left+g.right, Assigned)
	first := make([]bool, len(g.pairs))
	taken := make([]bool, g.left+g.right)
	for _, m := range matched {
		first[numbers[m]] = true
		taken[edges[m].A], taken[edges[m].B] = true, true
	}
	kept := keepFirst(g.byRank(rank, wholes), func(i int) bool {
		a, b := g.pairs[i].a, right+g.pairs[i].b
		free := !taken[a] && !taken[b]
		if free {
			taken[a], taken[b] = true, true
		}
		return free || first[i]
	})
	return kept, summary
}
