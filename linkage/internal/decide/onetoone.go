package decide

import (
	"cmp"
	"math"
	"slices"

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

// Best returns the edges that are the first choice of their left record.
func Best(g model.Graph, rank []float64, wholes []float32) []int {
	return best(g, rank, wholes, func(i int) uint32 { return g.Pairs[i].A })
}

// BestRight returns the edges that are the first choice of their right record.
func BestRight(g model.Graph, rank []float64, wholes []float32) []int {
	return best(g, rank, wholes, func(i int) uint32 { return g.Pairs[i].B })
}

// best returns the edges that are the first choice of the record at one end.
func best(g model.Graph, rank []float64, wholes []float32, end func(i int) uint32) []int {
	taken := make([]bool, max(g.Left, g.Right))
	return keepFirst(byRank(g, rank, wholes), func(i int) bool {
		free := !taken[end(i)]
		taken[end(i)] = true
		return free
	})
}

// byRank returns all edges, the best first.
func byRank(g model.Graph, rank []float64, wholes []float32) []int {
	order := make([]int, len(g.Pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(rank[j], rank[i]), cmp.Compare(wholes[j], wholes[i]), cmp.Compare(i, j))
	})
	return order
}

// keepFirst returns, ascending, the edges for which keep is true; it asks in the given order.
func keepFirst(order []int, keep func(i int) bool) []int {
	var kept []int
	for _, i := range order {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	return kept
}
