package decide

import (
	"math"

	"github.com/alike-dev/alike/internal/assignment"
	"github.com/alike-dev/alike/linkage/internal/model"
)

const (
	// Assigned is the largest number of records in a connected component whose links are chosen together.
	Assigned = 1000
	// leastProbability is the least probability of an edge that connects records to a component. Without this
	// bound improbable edges would connect nearly all records to one component.
	leastProbability = 1e-3
)

// OneToOne returns edges that share no record. Within each connected component of edges with a probability of worth
// or more, they are the edges with the largest expected number of right links, that is, the largest sum of
// probabilities, then of similarities. In components of more than assigned records, and in one table in components
// with a cycle of odd length, it takes the best edge, then the best edge between the remaining records, and so on.
// In the same way it then takes edges of lower probability between records that are still free.
func OneToOne(g model.Graph, probability, rank []float64, wholes []float32) ([]int, assignment.Summary) {
	var numbers []int
	var edges []assignment.Edge
	right := uint32(0) // the node of the first right record, after all left ones
	if g.Right > 0 {
		right = uint32(g.Left)
	}
	for i, p := range g.Pairs {
		if probability[i] >= leastProbability {
			// 10⁹ · 2²⁰ · (assigned / 2) is below 2⁶².
			weight := int64(math.Round(probability[i]*1e9))<<20 + int64(math.Round(float64(wholes[i])*1e3))
			numbers = append(numbers, i)
			edges = append(edges, assignment.Edge{A: p.A, B: right + p.B, Weight: weight})
		}
	}
	matched, summary := assignment.Match(edges, g.Left+g.Right, Assigned)
	first := make([]bool, len(g.Pairs))
	taken := make([]bool, g.Left+g.Right)
	for _, m := range matched {
		first[numbers[m]] = true
		taken[edges[m].A], taken[edges[m].B] = true, true
	}
	kept := keepFirst(byRank(g, rank, wholes), func(i int) bool {
		a, b := g.Pairs[i].A, right+g.Pairs[i].B
		free := !taken[a] && !taken[b]
		if free {
			taken[a], taken[b] = true, true
		}
		return free || first[i]
	})
	return kept, summary
}
