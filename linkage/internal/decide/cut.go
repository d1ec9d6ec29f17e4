package decide

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// KeepTop keeps the best edges of each left record. room is the number of edges that a record may have.
func KeepTop(room func(a uint32) int, edges []int, pairs []compare.Pair, rank []float64) []int {
	kept := edges[:0]
	for len(edges) > 0 {
		end := 1
		for end < len(edges) && pairs[edges[end]].A == pairs[edges[0]].A {
			end++
		}
		group := slices.Clone(edges[:end])
		slices.SortFunc(group, func(i, j int) int { return cmp.Or(cmp.Compare(rank[j], rank[i]), cmp.Compare(i, j)) })
		group = group[:min(room(pairs[edges[0]].A), end)]
		slices.Sort(group)
		kept = append(kept, group...)
		edges = edges[end:]
	}
	return kept
}

// Probable keeps the edges that are more probable than least.
func Probable(edges []int, probability []float64, least float64) []int {
	return slices.DeleteFunc(edges, func(e int) bool { return probability[e] <= least })
}

// Precise keeps as many of the most probable edges as possible so that the expected share of right ones is at least
// share. It also returns the smallest probability of these, a half if there are none.
func Precise(edges []int, probability []float64, share float64) ([]int, float64) {
	order := slices.Clone(edges)
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(probability[j], probability[i]), cmp.Compare(i, j)) })
	total, n, least := 0.0, 0, 0.5
	for i, e := range order {
		if total += probability[e]; total >= share*float64(i+1) {
			n, least = i+1, probability[e]
		}
	}
	kept := order[:n]
	slices.Sort(kept)
	return kept, least
}

// Balance returns the probability above which edges have the largest expected F1: half of that F1 (Z. Lipton,
// C. Elkan, B. Naryanaswamy, "Optimal thresholding of classifiers to maximize F1 measure", ECML PKDD 2014). It is
// nearly a half if the tables separate matches from others, and less if most matches are hardly more probable than
// others. If the F1 is less than a half, or if no edge is more likely right than wrong, the data are too weak to
// accept improbable edges, and it is a half.
func Balance(edges []int, probability []float64) float64 {
	matches := 0.0
	for _, e := range edges {
		matches += probability[e]
	}
	// Each step increases F1 until it is largest (W. Dinkelbach, "On nonlinear fractional programming", 1967).
	least, f1 := 0.5, -1.0
	for {
		right, n := 0.0, 0
		for _, e := range edges {
			if p := probability[e]; p > least {
				right, n = right+p, n+1
			}
		}
		next := 2 * right / (float64(n) + matches)
		switch {
		case n == 0, next <= f1 && f1 < 0.5:
			return 0.5
		case next <= f1:
			return least
		}
		least, f1 = next/2, next
	}
}
