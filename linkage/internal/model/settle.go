package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Apply returns the probabilities of compared candidates by a model that was learned before.
// sources are those of Graph, of which a record then has one partner each.
func Apply(ctx context.Context, m *Model, c *compare.Comparison, once Once, sources []uint32) (probability, rank []float64) {
	n := len(c.Pairs)
	probability, rank = make([]float64, n), make([]float64, n)
	m.probabilities(c, rivals(ctx, c, once, sources), make([]float64, n), probability, rank)
	return probability, rank
}

// rivals returns the rivals of candidates for model.probabilities; nil if records may have several
// partners.
func rivals(ctx context.Context, c *compare.Comparison, once Once, sources []uint32) *exclusive {
	if sources != nil {
		once = Once{Left: true, Right: true}
	}
	if !once.Any() {
		return nil
	}
	return newExclusive(ctx, Graph{c.Pairs, c.Left, c.Right, sources}, once)
}

// ofTwins returns the model that is learned as if exactly the very similar pairs were the matches.
func ofTwins(c *compare.Comparison, share []float64) (*Model, []float64) {
	probability := make([]float64, len(c.Pairs))
	for i, w := range c.Wholes {
		if w >= Duplicate {
			probability[i] = 1
		}
	}
	m := modelOf(c, share, probability)
	m.probabilities(c, nil, make([]float64, len(probability)), probability, nil)
	return m, probability
}

// mostlyEqual tells whether most matches have the same values in all columns. Others that no fit has found are no copies in any table that
// has none, nor most of them where shops offer a thing in sizes.
func mostlyEqual(c *compare.Comparison, probability []float64) bool {
	matches, equal := 0, 0
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		matches++
		if !slices.ContainsFunc(c.Of(i)[:c.Width-1], func(l compare.Level) bool { return l != compare.Missing && !compare.IsEqual(l) }) {
			equal++
		}
	}
	return 2*equal >= matches
}

// modelOf returns the model that is learned from the probability of each candidate.
func modelOf(c *compare.Comparison, share, probability []float64) *Model {
	m := NewModel(c, share)
	m.Prior = LogOdds(mean(probability))
	m.learn(c, probability)
	return m
}

// settle runs expectation and maximisation from a guess of the probabilities, and puts the final
// probabilities into it.
func settle(ctx context.Context, c *compare.Comparison, g Graph, once Once, share, probability []float64) *Model {
	m := NewModel(c, share)
	m.Prior = LogOdds(mean(probability))
	var rivals *exclusive
	var before *matchings
	if once.Any() {
		rivals, before = newExclusive(ctx, g, once), newMatchings(ctx, g, once)
	}
	odds, last := make([]float64, len(c.Pairs)), make([]float64, len(c.Pairs))
	for range mostSteps {
		if ctx.Err() != nil {
			break
		}
		m.learn(c, probability)
		if once.Any() {
			m.Prior = before.prior(m.Prior, SumOf(probability), odds)
		} else {
			m.Prior = LogOdds(mean(probability))
		}
		copy(last, probability)
		m.probabilities(c, rivals, odds, probability, nil)
		if distance(last, probability) <= settled*SumOf(probability) {
			break
		}
	}
	return m
}

// settled is the largest change of the probabilities in the last step, as a share of their sum.
const settled = 1e-4

// probabilities puts the probability of each candidate into dst and, unless rank is nil, the value by
// which candidates are ordered into rank. rivals is nil if records may have several partners; odds is
// scratch.
func (m *Model) probabilities(c *compare.Comparison, rivals *exclusive, odds, dst, rank []float64) {
	for i := range dst {
		z := m.Score(c.Of(i))
		odds[i] = math.Exp(min(40, max(-40, z)))
		if rivals == nil {
			dst[i] = odds[i] / (1 + odds[i])
			if rank != nil {
				rank[i] = z
			}
		}
	}
	if rivals != nil {
		rivals.marginals(dst, rank, odds)
	}
}

// matchings are random matchings of the candidates in which all candidates have the same odds: the state
// before any evidence if a record has at most one partner.
type matchings struct {
	*exclusive
	p []float64
}

func newMatchings(ctx context.Context, g Graph, once Once) *matchings {
	return &matchings{newExclusive(ctx, g, once), make([]float64, len(g.Pairs))}
}

// prior returns log odds at which a random matching has about this number of edges. guess is the result
// of the step before; odds is scratch.
func (m *matchings) prior(guess, edges float64, odds []float64) float64 {
	if m.most == 0 { // there are no candidates
		return guess
	}
	same := math.Exp(guess)
	for i := range odds {
		odds[i] = same
	}
	m.marginals(m.p, nil, odds)
	guess += LogOdds(edges/m.most) - LogOdds(SumOf(m.p)/m.most)
	return min(max(guess, -25), 15)
}

// Duplicate is the similarity from which two records of a table may be duplicates whatever the model
// says. Such pairs do not count as chance, although a record has one partner at most, and they serve
// as matches if no fit finds any.
const Duplicate = 0.7
