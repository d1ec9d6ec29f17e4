package eval

import (
	"cmp"
	"slices"
)

// Point is the quality of a list of pairs that is cut at a score.
type Point struct {
	Score     float64 `json:"score"` // keep pairs of at least this score
	Pairs     int     `json:"pairs"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// Curve returns a point for every different score of a list of pairs, the highest first.
// right says which pairs are true, and truth how many true pairs there are, found or not.
// O(n log n).
func Curve(scores []float64, right []bool, truth int) []Point {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(i, j)) })
	var curve []Point
	hits := 0
	for n, i := range order {
		if right[i] {
			hits++
		}
		if n+1 < len(order) && scores[order[n+1]] == scores[i] {
			continue
		}
		p := Point{Score: scores[i], Pairs: n + 1, Precision: float64(hits) / float64(n+1), F1: 2 * float64(hits) / float64(n+1+truth)}
		if truth > 0 {
			p.Recall = float64(hits) / float64(truth)
		}
		curve = append(curve, p)
	}
	return curve
}

// Best returns the first point of the largest F1; the zero Point if there are no points.
func Best(curve []Point) (best Point) {
	for _, p := range curve {
		if p.F1 > best.F1 {
			best = p
		}
	}
	return best
}
