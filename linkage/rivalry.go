package linkage

import (
	"math"
	"slices"
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

// rivalries returns the rivalries of the left and of the right records.
func (e *examiner) rivalries() (left, right rivalries) {
	left, right = newRivalries(e.found.left), newRivalries(e.found.right)
	for i, p := range e.found.pairs {
		z := e.model.score(e.found.of(i))
		left.see(int(p.a), z, e.probability[i])
		right.see(int(p.b), z, e.probability[i])
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

// expected returns, ascending, the best scores that chance would give to records, estimated from their next best
// scores. If the best pair of a record is a match, the second best score comes from chance. If it is not, the best
// score itself comes from chance; if scores of non-matches fall off exponentially, its distance from the second best
// is distributed as twice the distance of the second from the third (A. Rényi, "On the theory of order statistics",
// 1953).
func (r rivalries) expected() bests {
	var scores bests
	for _, of := range r {
		switch there := func(i int) bool { return !math.IsInf(of.best[i], -1) }; {
		case there(1) && of.matched > 0.5:
			scores = append(scores, of.best[1])
		case there(2):
			scores = append(scores, of.best[1]+2*(of.best[1]-of.best[2]))
		}
	}
	return scores.sorted()
}

// bests are the best scores of records.
type bests []float64

func (b bests) reset() {
	for i := range b {
		b[i] = math.Inf(-1)
	}
}

func (b bests) see(record int, z float64) { b[record] = max(b[record], z) }

// sorted returns the scores ascending.
func (b bests) sorted() bests {
	slices.Sort(b)
	return b
}
