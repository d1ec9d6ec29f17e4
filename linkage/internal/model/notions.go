package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// A fit may take two kinds of pairs for its matches: copies of a record, and things that have nearly everything in common, such as
// the firms of a group, the parts of a series of films, or a contract and its amendments. In each column most matches may
// agree. But copies differ in one column as often whether they differ in another one or not, and the others differ in the
// same pairs: in the date and in the tax number. So the kinds of the matches alone show them, in tables of few columns too.

const (
	// leastOfMatches is the least share of the matches that a kind has which says something about them. A kind with less than
	// minority may as well be copies that were changed, such as people who have moved: it is not left out, and precision is
	// expected to be less by its share at most.
	leastOfMatches, minority = 0.05, 0.2
	// apartFrom is how often the columns in which a kind differs from copies would name a record, from which it is another thing;
	// alikeIn is what a column counts in which its values are alike, and hardly ever the same: they differ in a part.
	apartFrom, alikeIn = 0.75, 0.5
	// leastIndependent is the least number of columns in which another thing differs: columns that agree together, such as street and
	// postcode, count as one.
	leastIndependent = 1.5
	// mostShared is the largest agreement in a column that a kind has of that of copies, if it differs in it. People who have
	// changed their names agree in more.
	mostShared = 0.25
	// fewOthers is added to the pairs that agree in a column, so that a few of them say little about another one.
	fewOthers = 5
)

// followNotion replaces a fit whose matches in one table are of two kinds, of which one differs from the other in columns that
// would name a record, by a fit to the other one. Which of the two is the same thing is in dispute then.
func (f *Fitted) followNotion(ctx context.Context, c *compare.Comparison, o *Options) {
	some := matchesOf(f.Probability)
	if len(some) < leastCandidates {
		return
	}
	patterns := kinds.NewPatterns(c.Width-1, Grades(c, some))
	m := kinds.Fit(ctx, patterns, o.Threads)
	if ctx.Err() != nil || len(m.Share) == 1 {
		return
	}
	there, _ := agreement(c, f.Probability)
	n := &notions{m, o.Around, there, o.Around.toldByOthers(c, f.Probability)}
	copies := n.copies()
	same := make([]float64, len(m.Share))
	var differing []int
	for k, share := range m.Share {
		same[k] = 1
		columns := n.apart(k, copies)
		switch {
		case columns == nil || share < leastOfMatches:
		case share < minority:
			f.Apart += share
		default:
			same[k], differing = 0, append(differing, columns...)
		}
	}
	if differing == nil {
		return
	}
	slices.Sort(differing)
	likely := make([]float64, len(c.Pairs))
	for i, of := range patterns.Posterior(m) {
		for k, p := range of {
			likely[some[i]] += p * same[k]
		}
	}
	f.Differing, f.Dispute, f.Apart = slices.Compact(differing), OverWider, 0
	f.follow(ctx, c, o, distil(ctx, c, likely, freely))
}

// notions are the kinds of the matches.
type notions struct {
	*kinds.Mixture
	around *Surroundings
	there  []float64 // of each column: in how many matches both records have values
	told   []float64 // see toldByOthers
}

// names returns how often a column would name a record.
func (n *notions) names(f int) float64 { return min(1, n.around.Rarity[f]/n.around.Naming) }

// more returns how much more often than random pairs those of a kind agree in a column: 0 as often, 1 always.
func (n *notions) more(k, f int) float64 {
	chance := n.around.Alike[f]
	return (n.Agreement(k, f) - chance) / (1 - chance)
}

// copies returns the kind whose pairs agree in most.
func (n *notions) copies() (kind int) {
	most := math.Inf(-1)
	for k := range n.Share {
		sum := 0.0
		for f := range n.Columns {
			sum += n.names(f) * (n.more(k, f) + n.Equal(k, f))
		}
		if sum > most {
			kind, most = k, sum
		}
	}
	return kind
}

// apart returns the columns in which a kind differs from copies, if these are two or more that would name a record; else nil.
func (n *notions) apart(k, copies int) (columns []int) {
	var weights []float64
	chance := false
	for f := range n.Columns {
		of, ofCopies := max(0, n.more(k, f)), n.more(copies, f)
		weight := 0.0
		switch {
		case n.there[f] < fewThere*n.Pairs:
		case ofCopies >= telling && of < mostShared*ofCopies:
			weight, chance = n.names(f)*(1-of/ofCopies), true
		case n.Equal(copies, f) >= telling && n.Equal(k, f) < noMore*n.Equal(copies, f):
			weight = n.names(f) * alikeIn
		}
		if weight > 0 {
			columns, weights = append(columns, f), append(weights, weight)
		}
	}
	sum, independent := 0.0, 0.0
	for i, f := range columns {
		own := n.own(f, columns)
		sum, independent = sum+weights[i]*own, independent+own
	}
	if sum < apartFrom || !chance || independent < leastIndependent {
		return nil
	}
	return columns
}

// own returns the share of what a column says that no other one of some columns says too.
func (n *notions) own(f int, among []int) float64 {
	sum := 1.0
	for _, g := range among {
		if g != f {
			sum += max(n.told[f*n.Columns+g], n.told[g*n.Columns+f])
		}
	}
	return 1 / sum
}

// toldByOthers returns, for each pair of columns f and g at f·columns+g, how much the agreement of f says about that of g: 0 nothing,
// 1 that it agrees, as where g holds the words of f. It is taken from candidates that are no matches. So street and postcode, which
// people of one home share, count as one: who moves changes both.
func (s *Surroundings) toldByOthers(c *compare.Comparison, probability []float64) []float64 {
	columns := c.Width - 1
	one, both := make([]float64, columns*columns), make([]float64, columns*columns)
	for i, p := range probability {
		if p > 0.5 {
			continue
		}
		of := c.Of(i)
		for f := range columns {
			if !compare.Agrees(of[f]) {
				continue
			}
			for g := range columns {
				if of[g] == compare.Missing {
					continue
				}
				one[f*columns+g]++
				if compare.Agrees(of[g]) {
					both[f*columns+g]++
				}
			}
		}
	}
	told := s.Held()
	for i, n := range one {
		chance := s.Alike[i%columns]
		told[i] = max(told[i], (both[i]/(n+fewOthers)-chance)/max(1e-9, 1-chance))
	}
	return told
}
