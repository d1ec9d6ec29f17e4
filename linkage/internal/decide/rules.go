package decide

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/model"
)

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
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(rank[j], rank[i]), cmp.Compare(wholes[j], wholes[i]))
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
