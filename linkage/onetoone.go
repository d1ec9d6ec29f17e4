package linkage

import (
	"math"

	"github.com/alike-dev/alike/internal/assignment"
)

// Assignment says how the links of OneToOne were chosen: the number of connected groups of records,
// and how many of these were solved greedily.
type Assignment = assignment.Summary

const (
	// Assigned is the most records of a connected component whose links are chosen together.
	Assigned = 1000
	// worth is the least probability of a pair that joins records to a component. Without it
	// nearly all records are one component, by pairs that nobody takes for matches.
	worth = 1e-3
)

// oneToOne returns edges that share no record. Within each connected component of edges that
// are worth it they are those with the most right links to be expected: the largest sum of
// probabilities, then of similarities. In components of more than Assigned records, or, in
// one table, with a cycle of odd length, it is the best edge, then the best of what is left,
// and so on; and so for all other edges, among the records that are free then.
func (g graph) oneToOne(probability, rank []float64, wholes []float32) ([]int, assignment.Summary) {
	var numbers []int
	var edges []assignment.Edge
	right := uint32(0) // nodes of right records come behind those of left ones
	if g.right > 0 {
		right = uint32(g.left)
	}
	for i, p := range g.pairs {
		if probability[i] >= worth {
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
