package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// rivalry has the three best scores of a record in the other table, falling, −∞ where there are fewer, and the
// largest probability of its pairs.
type rivalry struct {
	best    [3]float64
	matched float64
}

type rivalries []rivalry

func newRivalries(records int) rivalries {
	r := make(rivalries, records)
	for i := range r {
		r[i].best = [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	}
	return r
}

// RivalriesOf returns the rivalries of the left and of the right records of candidates.
func RivalriesOf(found *compare.Comparison, m *Model, probability []float64) (left, right rivalries) {
	left, right = newRivalries(found.Left), newRivalries(found.Right)
	for i, p := range found.Pairs {
		z := m.Score(found.Of(i))
		left.see(int(p.A), z, probability[i])
		right.see(int(p.B), z, probability[i])
	}
	return left, right
}

func (r rivalries) see(record int, z, probability float64) {
	of := &r[record]
	for i := range of.best {
		if z > of.best[i] {
			z, of.best[i] = of.best[i], z
		}
	}
	of.matched = max(of.matched, probability)
}

// Expected returns, ascending, the best scores that chance would give to records, estimated from their next best
// scores. If the best pair of a record is a match, the second best score comes from chance. If it is not, the best
// score itself comes from chance; if scores of non-matches fall off exponentially, its distance from the second best
// is distributed as twice the distance of the second from the third (A. Rényi, "On the theory of order statistics",
// 1953).
func (r rivalries) Expected() Bests {
	var scores Bests
	for _, of := range r {
		switch there := func(i int) bool { return !math.IsInf(of.best[i], -1) }; {
		case there(1) && of.matched > 0.5:
			scores = append(scores, of.best[1])
		case there(2):
			scores = append(scores, of.best[1]+2*(of.best[1]-of.best[2]))
		}
	}
	return scores.Sorted()
}

// Bests are the best scores of records.
type Bests []float64

func (b Bests) Reset() {
	for i := range b {
		b[i] = math.Inf(-1)
	}
}

func (b Bests) See(record int, z float64) { b[record] = max(b[record], z) }

// Sorted returns the scores ascending.
func (b Bests) Sorted() Bests {
	slices.Sort(b)
	return b
}
