package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/kinds"
)

// A Kind is a kind of pairs among the candidates, such as people of one household.
type Kind struct {
	Agree    []int          // columns in which most of its pairs agree
	Share    float64        // of the candidates
	Taken    bool           // most of its pairs are more likely matches than not
	Examples []compare.Pair // up to mostExamples
}

const mostExamples = 3

// A mixture has the kinds of candidates, and how likely each candidate is of each kind.
type mixture struct {
	*kinds.Mixture
	posterior [][]float64
}

// mixtureOf finds the kinds of candidates; nil if there are no two, or the context has ended.
func mixtureOf(ctx context.Context, c *compare.Comparison, threads int) *mixture {
	m := kinds.Fit(ctx, kinds.NewPatterns(c.Width-1, Grades(c, everyNth(len(c.Pairs)))), threads)
	if ctx.Err() != nil || len(m.Share) == 1 {
		return nil
	}
	return &mixture{m, kinds.NewPatterns(c.Width-1, Grades(c, nil)).Posterior(m)}
}

// likely returns how likely each candidate is a match, from the share of each kind's pairs that are.
func (m *mixture) likely(same []float64) []float64 {
	likely := make([]float64, len(m.posterior))
	for i, of := range m.posterior {
		for k, p := range of {
			likely[i] += p * same[k]
		}
	}
	return likely
}

// named returns 1 for each kind whose pairs agree in all of some columns, and 0 for the others.
func (m *mixture) named(columns []int) []float64 {
	same := make([]float64, len(m.Share))
	for k := range same {
		if !slices.ContainsFunc(columns, func(f int) bool { return m.Agreement(k, f) < telling }) {
			same[k] = 1
		}
	}
	return same
}

// list describes the kinds, the most frequent first, given the probability of each candidate.
func (m *mixture) list(c *compare.Comparison, probability []float64) []Kind {
	all := make([]Kind, len(m.Share))
	of, matches := make([]float64, len(all)), make([]float64, len(all))
	examples := make([][]int, len(all))
	for i, posterior := range m.posterior {
		for k, p := range posterior {
			of[k] += p
			matches[k] += p * probability[i]
		}
		k := largest(posterior)
		examples[k] = m.withExample(examples[k], c, k, i)
	}
	for k := range all {
		for f := range m.Columns {
			if m.Agreement(k, f) >= telling {
				all[k].Agree = append(all[k].Agree, f)
			}
		}
		all[k].Share, all[k].Taken = of[k]/float64(len(m.posterior)), 2*matches[k] > of[k]
		for _, i := range examples[k] {
			all[k].Examples = append(all[k].Examples, c.Pairs[i])
		}
	}
	return all
}

// withExample returns the surest examples of a kind, the surest first, with candidate i if it is one. Equals are drawn by a hash.
func (m *mixture) withExample(examples []int, c *compare.Comparison, kind, i int) []int {
	place := func(i int) uint64 { return hashing.Mix(uint64(c.Pairs[i].A)<<32 | uint64(c.Pairs[i].B)) }
	at, _ := slices.BinarySearchFunc(examples, i, func(other, i int) int {
		return cmp.Or(cmp.Compare(m.posterior[i][kind], m.posterior[other][kind]), cmp.Compare(place(other), place(i)))
	})
	if at == mostExamples {
		return examples
	}
	examples = slices.Insert(examples, at, i)
	return examples[:min(mostExamples, len(examples))]
}

// followNamed makes the model that of the kinds whose pairs agree in the columns that the user has named: where no kind does, of
// the pairs that agree in them.
func (f *Fitted) followNamed(ctx context.Context, c *compare.Comparison, o *Options) {
	var m *mixture
	likely := agreeIn(c, o.Same)
	if HasSurroundings(c) {
		if m = mixtureOf(ctx, c, o.Threads); m != nil {
			if same := m.named(o.Same); slices.Contains(same, 1) {
				likely = m.likely(same)
			}
		}
	}
	f.follow(ctx, c, o, distil(ctx, c, likely, freely))
	if m != nil && ctx.Err() == nil {
		f.Kinds = m.list(c, f.Probability)
	}
}

// agreeIn returns 1 for each candidate whose records agree in all of some columns, and 0 for the others.
func agreeIn(c *compare.Comparison, columns []int) []float64 {
	of := make([]float64, len(c.Pairs))
	for i := range of {
		if levels := c.Of(i); !slices.ContainsFunc(columns, func(f int) bool { return !compare.Agrees(levels[f]) }) {
			of[i] = 1
		}
	}
	return of
}

// spread returns the probabilities of n candidates, of which those at some places have these and the others none.
func spread(likely []float64, places []int, n int) []float64 {
	all := make([]float64, n)
	for k, i := range places {
		all[i] = likely[k]
	}
	return all
}
