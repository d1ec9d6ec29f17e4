package advise

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/text"
)

// Example is a pair of documents of which somebody has said whether they are copies.
type Example struct {
	A, B string // names
	Same bool
}

// ExamplesLeast is how many examples of copies, and how many of others, are needed: with fewer the witness judges.
const ExamplesLeast = 4

// resamplings is how often examples are drawn again, for intervals of 95 %.
const resamplings = 100

// byExamples returns the judgement of the examples: a curve of that similarity, by a recipe or as the cover of the
// witness, which explains them best.
func byExamples(views []view, pairs, given []pair, same []bool) *judgement {
	x, all := coverOf(given), coverOf(pairs)
	best, loss := fitCurve(x, same)
	for i := range views {
		if c, l := fitCurve(views[i].given, same); l < loss {
			x, all, best, loss = views[i].given, views[i].pairs, c, l
		}
	}
	j := &judgement{copies: best.of(all)}
	random := rand.New(rand.NewPCG(1, uint64(len(same))))
	drawnX, drawn := make([]float64, len(same)), make([]bool, len(same))
	for range resamplings {
		for i := range same {
			k := random.IntN(len(same))
			drawnX[i], drawn[i] = x[k], same[k]
		}
		c, _ := fitCurve(drawnX, drawn)
		j.resampled = append(j.resampled, c.of(all))
	}
	return j
}

func coverOf(pairs []pair) []float64 {
	cover := make([]float64, len(pairs))
	for i, p := range pairs {
		cover[i] = p.cover
	}
	return cover
}

// curve is a probability that rises with a similarity x: logistic, of weights for 1 and (x − center)/spread.
type curve struct {
	center, spread float64
	weights        []float64
}

func (c curve) row(x float64) []float64 { return []float64{1, (x - c.center) / c.spread} }

func (c curve) at(x float64) float64 {
	return logistic.Probability(logistic.Logit(c.weights, c.row(x)))
}

func (c curve) of(x []float64) []float64 {
	p := make([]float64, len(x))
	for i := range x {
		p[i] = c.at(x[i])
	}
	return p
}

// pull is how strongly weights are held near those of a gentle slope: where examples part without error, any slope would do.
const pull = 0.04

// fitCurve fits a curve to examples, and returns its log loss.
func fitCurve(x []float64, same []bool) (c curve, loss float64) {
	n := float64(len(x))
	for _, v := range x {
		c.center += v / n
	}
	for _, v := range x {
		c.spread += (v - c.center) * (v - c.center) / n
	}
	c.spread = max(math.Sqrt(c.spread), 1e-3)
	seen := &logistic.Observations{Features: 2}
	for i, v := range x {
		seen.Append(c.row(v), same[i])
	}
	c.weights = logistic.Fit(seen, func(int) bool { return true }, []float64{0, 1}, pull)
	c.weights[1] = max(c.weights[1], 0) // more alike is never less likely the same
	for i, v := range x {
		loss += logistic.Loss(logistic.Logit(c.weights, c.row(v)), same[i])
	}
	return c, loss
}

// examples returns the pairs of examples whose documents are known, and what is said of them.
func (s *Sample) examples(all []Example) (given []pair, same []bool) {
	place := make(map[string]uint32, len(s.Documents)+len(s.named))
	for i, d := range slices.Concat(s.Documents, s.named) {
		if _, is := place[d.ID]; !is {
			place[d.ID] = uint32(i)
		}
	}
	for _, e := range all {
		a, isA := place[e.A]
		b, isB := place[e.B]
		if isA && isB && a != b {
			given, same = append(given, pair{a: a, b: b}), append(same, e.Same)
		}
	}
	return given, same
}

// Lacks returns the documents of examples that the sample does not have, in order.
func (s *Sample) Lacks(all []Example) (names []string) {
	has := map[string]bool{}
	for _, d := range slices.Concat(s.Documents, s.named) {
		has[d.ID] = true
	}
	for _, e := range all {
		for _, name := range []string{e.A, e.B} {
			if !has[name] {
				has[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// Questions returns up to most pairs of the sample that teach most if somebody says whether they are copies: spread
// over what the witness says, and over how alike they are, from nearly nothing to equal. Those for which asked is
// true are left out.
func (a *Advice) Questions(most int, asked func(x, y string) bool) []Pair {
	var alike *view
	for i := range a.views {
		if v := &a.views[i]; v.Tokens == text.Chars && v.N == 5 && (v.Measure == measure.Cosine || alike == nil) {
			alike = v
		}
	}
	order := a.shuffled()
	var bins [20][]int // of 0.1 of cover, then of similarity
	for _, i := range order {
		if p := a.pairs[i]; !asked(a.sample.Documents[p.a].ID, a.sample.Documents[p.b].ID) {
			byCover, bySimilarity := min(int(10*p.cover), 9), 10+min(int(10*alike.pairs[i]), 9)
			bins[byCover], bins[bySimilarity] = append(bins[byCover], i), append(bins[bySimilarity], i)
		}
	}
	taken := map[int]bool{}
	for left := true; left && len(taken) < most; {
		left = false
		for b := range bins {
			for len(bins[b]) > 0 && taken[bins[b][0]] {
				bins[b] = bins[b][1:]
			}
			if len(bins[b]) > 0 && len(taken) < most {
				taken[bins[b][0]], left = true, true
			}
		}
	}
	var questions []Pair
	for _, i := range order {
		if taken[i] {
			questions = append(questions, a.pair(i, alike.pairs[i]))
		}
	}
	return questions
}
