package decide

import (
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// PassedOver counts the records of either table that are passed over: they are in none of the edges, of which a record
// has at most one, although their score with a record that is in one is at least the median score of the edges. pairs
// is the number of edges that are more likely matches than not without regard to rivals; only these are considered.
func PassedOver(found *compare.Comparison, m *model.Model, edges []int) (pairs, left, right int) {
	score := func(i int) float64 { return m.Score(found.Of(i)) }
	takenA, takenB := make([]bool, found.Left), make([]bool, found.Right)
	var scores []float64
	for _, i := range edges {
		if z := score(i); z > 0 {
			p := found.Pairs[i]
			takenA[p.A], takenB[p.B] = true, true
			scores = append(scores, z)
		}
	}
	if len(scores) == 0 {
		return 0, 0, 0
	}
	slices.Sort(scores)
	median := scores[len(scores)/2]
	passedA, passedB := map[uint32]bool{}, map[uint32]bool{}
	for i, p := range found.Pairs {
		switch {
		case takenA[p.A] == takenB[p.B] || score(i) < median:
		case takenB[p.B]:
			passedA[p.A] = true
		default:
			passedB[p.B] = true
		}
	}
	return len(scores), len(passedA), len(passedB)
}
