package linkage

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/linkage/internal/explain"
	"github.com/alike-dev/alike/linkage/internal/learn"
)

// A Question is a candidate whose label would teach much.
type Question struct {
	A, B        string
	Probability float64 // that they belong together, by the labels so far
	Values      []Values
}

// mostAsked is the largest number of candidates from which questions are chosen.
const mostAsked = 20_000

// Ask returns the candidate whose label would teach most, given the labels so far; ok is false if there is none
// left. may, if it is not nil, tells which pairs may be asked about. Every other question is a pair about which the
// model learned from the labels is uncertain, among records that are far from labelled ones. The others are taken
// evenly along the ranks of the likely links, which shows where the model is certain and wrong. The same labels lead
// to the same question.
func (l *Learner) Ask(labels []Label, may func(a, b string) bool) (q Question, ok bool) {
	if l.pool == nil {
		l.pool = l.newPool()
	}
	weights := learn.Start(l.of.Features())
	if m, err := l.Fit(Labels{Pairs: labels}); err == nil {
		weights = m.weights()
	} // else there are not yet labels of both kinds
	asked, near := map[int]bool{}, map[uint32]bool{}
	for _, label := range labels {
		if p, ok := l.pairOf(label); ok {
			near[l.node(0, p.A)], near[l.node(1, p.B)] = true, true
			if i, ok := l.at[p]; ok {
				asked[i] = true
			}
		}
	}
	open := func(i int) bool {
		a, b := l.tables.IDs(l.of.Pairs[i])
		return !asked[i] && (may == nil || may(a, b))
	}
	best := -1
	if n := len(labels); n%2 == 0 {
		best = l.pool.Along(n/2, open)
	}
	if best < 0 {
		best = l.pool.LeastSure(weights, func(i int) float64 {
			p := l.of.Pairs[i]
			switch {
			case !open(i):
				return 0
			case near[l.node(0, p.A)] || near[l.node(1, p.B)]:
				return 0.3
			}
			return 1
		})
	}
	if best < 0 {
		return q, false
	}
	i := l.pool.Candidates[best]
	return l.question(i, logistic.Probability(logistic.Logit(weights, l.pool.Features.Row(best)))), true
}

// newPool takes all candidates of as many left records as fit. A hash chooses the records.
func (l *Learner) newPool() *learn.Pool {
	p := &learn.Pool{Features: &logistic.Observations{Features: l.of.Features()}}
	part := uint64((len(l.of.Pairs) + mostAsked - 1) / mostAsked)
	isFirst := make([]bool, len(l.of.Pairs))
	for _, i := range l.judged.Graph().Mutual(l.of.Rank, l.of.Wholes) {
		isFirst[i] = true
	}
	x := make([]float64, l.of.Features())
	for i, pair := range l.of.Pairs {
		if part > 1 && hashing.Mix(uint64(pair.A)+1)>>32%part != 0 {
			continue
		}
		l.of.Put(x, i, l.judged.Matchers[0])
		if isFirst[i] {
			p.Links = append(p.Links, len(p.Candidates))
		}
		p.Candidates = append(p.Candidates, i)
		p.Features.Append(x, false)
	}
	slices.SortStableFunc(p.Links, func(a, b int) int {
		return cmp.Compare(l.of.Rank[p.Candidates[b]], l.of.Rank[p.Candidates[a]])
	})
	return p
}

// question returns a candidate as a question, with its values.
func (l *Learner) question(i int, probability float64) Question {
	p := l.of.Pairs[i]
	a, b := l.tables.IDs(p)
	return Question{a, b, probability, explain.ValuesOf(l.tables, namesOf(l.result.Columns), l.judged.Comparer, p)}
}
