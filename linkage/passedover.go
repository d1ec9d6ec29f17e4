package linkage

import (
	"fmt"
	"slices"
)

// manyPassedOver: there is a note if at least one record is passed over for every ten pairs. Of eight pairs of real
// tables that are one to one, Walmart-Amazon has one for every 10.4 pairs, and the others have at most one for every
// 120; a table of offers with up to three for a product has one for every 8.
const manyPassedOver = 10

// noteSeveral adds a note if many records have no link only because their partner has a better one. Then a record may
// have several partners.
func (t *tables) noteSeveral(e *examiner, edges []int) {
	if !e.config.exclusive() || t.right == nil {
		return
	}
	pairs, left, right := e.passedOver(edges)
	note := func(records int, side, other, remedy string) {
		if records > 0 && records*manyPassedOver >= pairs {
			t.result.Notes = append(t.result.Notes, fmt.Sprintf(
				"%s of the %s table would be linked if a record of the %s table could have several partners, which is so if you %s",
				counted(records, "record"), side, other, remedy))
		}
	}
	note(left, "left", "right", "match by best")
	note(right, "right", "left", "exchange the tables and match by best")
}

// passedOver counts the records of either table that are passed over: they are in none of the edges, of which a record
// has at most one, although their score with a record that is in one is at least the median score of the edges. pairs
// is the number of edges that are more likely matches than not without regard to rivals; only these are considered.
func (e *examiner) passedOver(edges []int) (pairs, left, right int) {
	score := func(i int) float64 { return e.model.Score(e.found.Of(i)) }
	takenA, takenB := make([]bool, e.found.Left), make([]bool, e.found.Right)
	var scores []float64
	for _, i := range edges {
		if z := score(i); z > 0 {
			p := e.found.Pairs[i]
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
	for i, p := range e.found.Pairs {
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
