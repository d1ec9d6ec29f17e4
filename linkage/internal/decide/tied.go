package decide

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/model"
)

// sameRank is how far ranks differ, as a share, that are the same but for rounding.
const sameRank = 1e-9

// Tied returns how many of some links only the order of the records has chosen: another edge of one of their records has
// the same rank and similarity, and takes no record from a better link. once says which records have one partner at most.
// O(edges).
func Tied(g model.Graph, links []int, rank []float64, wholes []float32, once model.Once) int {
	same := func(i, j int) bool {
		return wholes[i] == wholes[j] && math.Abs(rank[i]-rank[j]) <= sameRank*max(1, math.Abs(rank[i]))
	}
	left := slices.Repeat([]int{-1}, g.Left) // the link of each record; −1: none
	right := left
	if g.Right > 0 {
		right = slices.Repeat([]int{-1}, g.Right)
	}
	for _, i := range links {
		if once.Left {
			left[g.Pairs[i].A] = i
		}
		if once.Right {
			right[g.Pairs[i].B] = i
		}
	}
	tied := map[int]bool{}
	for j, p := range g.Pairs {
		a, b := left[p.A], right[p.B]
		if a == j || b == j || a >= 0 && !same(a, j) || b >= 0 && !same(b, j) {
			continue
		}
		for _, i := range []int{a, b} {
			if i >= 0 {
				tied[i] = true
			}
		}
	}
	return len(tied)
}
