package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/judge"
	"github.com/alike-dev/alike/linkage/internal/parallel"
	"github.com/alike-dev/alike/record"
)

// A Describer describes candidates by features, numbers of about −3 to 3, to learn from labels: the log odds of the
// model without labels, the similarity of each column, the tokens that the records have alone and in common, and how
// much better the pair is than its rivals.
type Describer struct {
	*compare.Comparison
	of               *judge.Examiner
	Rank             []float64 // log odds by the model
	scores           []float64 // log odds of each candidate by the model without regard to rivals
	byWhole, byScore rivals
}

func Describe(e *judge.Examiner) *Describer {
	d := &Describer{Comparison: e.Found, of: e, Rank: e.Judged, scores: make([]float64, len(e.Found.Pairs))}
	for i := range d.scores {
		d.scores[i] = e.Model.Score(d.Of(i))
	}
	d.byWhole = rivalsOf(d.Comparison, func(i int) float64 { return float64(d.Wholes[i]) })
	d.byScore = rivalsOf(d.Comparison, func(i int) float64 { return d.scores[i] })
	return d
}

func (d *Describer) Features() int { return common0 + featuresOfColumn*(d.Width-1) }

// Put puts the features of candidate i into x, with the matcher of its goroutine.
func (d *Describer) Put(x []float64, i int, m *compare.Matcher) {
	p := d.Pairs[i]
	clear(x)
	bound := func(v, by float64) float64 { return max(-by, min(by, v)) }
	x[constant] = 1
	x[Judged] = bound(d.Rank[i], 15) / logit0
	x[scored] = bound(d.scores[i], 15) / logit0
	x[similarWhole] = float64(d.Wholes[i])
	describeTokens(m, x, p)
	x[aheadWholeA] = bound(d.byWhole.ahead(0, p.A, float64(d.Wholes[i])), 1)
	x[aheadWholeB] = bound(d.byWhole.ahead(1, p.B, float64(d.Wholes[i])), 1)
	x[aheadScoreA] = bound(d.byScore.ahead(0, p.A, d.scores[i]), 10) / logit0
	x[aheadScoreB] = bound(d.byScore.ahead(1, p.B, d.scores[i]), 10) / logit0
	of := d.Of(i)
	model := d.of.Model
	d.of.EachColumn(p, func(f int, s float64, _, _ uint32) {
		own := x[common0+featuresOfColumn*f:]
		if s < 0 {
			own[2] = 1
			return
		}
		own[0] = model.Adds(f, of[f]) / logit0
		own[1] = s
	})
}

// describeTokens sets the features of the tokens of two records: the share of each record's weight that the other one
// has too and, in nats, the rarity of the rarest word that both have, and of the rarest word that only one has.
func describeTokens(m *compare.Matcher, x []float64, p compare.Pair) {
	const nats = 10 * record.WeightUnit
	rarest := func(place int, token uint32) {
		if !m.Numbering.IsGram(token) {
			x[place] = max(x[place], float64(m.Weights[token])/nats)
		}
	}
	var both uint64
	m.Part(p, func(token uint32) { rarest(aloneA, token) }, func(token uint32) {
		both += m.Mass(token)
		rarest(commonWord, token)
	}, func(token uint32) { rarest(aloneB, token) })
	x[containedA] = float64(both) / float64(max(1, m.Sizes[0][p.A]))
	x[containedB] = float64(both) / float64(max(1, m.Sizes[1][p.B]))
}

// rivals are the two largest values of each record's candidates. In one table both ends of a
// pair are records of the same side.
type rivals [2][]best2

type best2 struct{ first, second float64 }

func rivalsOf(c *compare.Comparison, value func(i int) float64) (r rivals) {
	r[0] = nothingYet(c.Left)
	if r[1] = r[0]; c.Right > 0 {
		r[1] = nothingYet(c.Right)
	}
	for i, p := range c.Pairs {
		v := value(i)
		r[0][p.A].add(v)
		r[1][p.B].add(v)
	}
	return r
}

func nothingYet(n int) []best2 {
	b := make([]best2, n)
	for i := range b {
		b[i] = best2{math.Inf(-1), math.Inf(-1)}
	}
	return b
}

func (b *best2) add(v float64) {
	if v > b.first {
		b.first, v = v, b.first
	}
	b.second = max(b.second, v)
}

// ahead returns the difference between the value of a record's candidate and that of the record's best other
// candidate; infinity if there is none.
func (r *rivals) ahead(side int, of uint32, value float64) float64 {
	b := r[side][of]
	if value >= b.first {
		return value - b.second
	}
	return value - b.first
}

// Correct returns probabilities and ranks of the candidates by the weights that were learned from labels.
func (d *Describer) Correct(ctx context.Context, weights []float64) (probability, rank []float64, err error) {
	matchers := d.of.Matchers
	probability, rank = make([]float64, len(d.Pairs)), make([]float64, len(d.Pairs))
	err = parallel.Ranges(ctx, len(matchers), len(d.Pairs), 1024, func(worker int) func(from, to int) {
		x := make([]float64, d.Features())
		return func(from, to int) {
			for i := from; i < to; i++ {
				d.Put(x, i, matchers[worker])
				rank[i] = logistic.Logit(weights, x)
				probability[i] = logistic.Probability(rank[i])
			}
		}
	})
	return probability, rank, err
}

// Weight is the weight of a feature of a pair.
type Weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// Names returns the names of the features, for reading.
func Names(columns []string) []string {
	names := []string{
		"constant", "model", "model without rivals", "similarity", "left in right", "right in left",
		"rarest common word", "rarest word of left only", "rarest word of right only",
		"similarity ahead of left's rivals", "similarity ahead of right's rivals", "model ahead of left's rivals", "model ahead of right's rivals",
	}
	for _, column := range columns {
		for _, what := range []string{"evidence", "similarity", "missing"} {
			names = append(names, fmt.Sprintf("%s: %s", column, what))
		}
	}
	return names
}

// Indexes of the features that all tables have. The features of the columns follow.
const (
	constant = iota
	Judged   // log odds of the model, with regard to rivals
	scored   // without
	similarWhole
	containedA
	containedB
	commonWord
	aloneA
	aloneB
	aheadWholeA
	aheadWholeB
	aheadScoreA
	aheadScoreB
	common0 // number of these features
)

// featuresOfColumn is the number of features of a column.
const featuresOfColumn = 3

const logit0 = 5 // log odds that make a feature of 1
