package model

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

const (
	// ridge holds the evidence of rare levels near 0, in pairs.
	ridge = 1.0
	// cycles is the number of times that each column is fitted. Columns that say the same share their evidence after a few.
	cycles = 10
	// mostStep bounds a change of evidence, in nats: a Newton step is too long where probabilities are near 0 or 1.
	mostStep = 3.0
)

// distil returns the model whose probabilities are nearest to the given ones: a logistic regression on the levels, by
// Newton steps for one column at a time. Unlike Model.learn it regards what columns have in common, so it needs no
// division by redundancy. O(cycles · candidates · columns).
//
// In the levels that rise, more similarity never counts against a match.
func distil(ctx context.Context, c *compare.Comparison, probability []float64, rise rising) *Model {
	m := NewModel(c, slices.Repeat([]float64{1}, c.Width-1))
	scale := m.discount() // by which Score divides
	z := make([]float64, len(probability))
	m.Prior = LogOdds(mean(probability))
	for i := range z {
		z[i] = m.Prior
	}
	for range cycles {
		if ctx.Err() != nil {
			break
		}
		for f := range c.Width {
			evidence := m.Evidence[f*compare.Levels : (f+1)*compare.Levels]
			newton(evidence, z, probability, rise, compare.Runs(f == c.Width-1), func(i int) compare.Level { return c.Levels[i*c.Width+f] })
			// A missing value has no evidence: what it would have moves to the prior.
			m.Prior += evidence[compare.Missing]
			for l := compare.Levels - 1; l >= 0; l-- {
				evidence[l] -= evidence[compare.Missing]
			}
		}
	}
	// A level that no candidate has gets the evidence of the level below it.
	for f := range c.Width {
		fillLevels(m.Evidence[f*compare.Levels:(f+1)*compare.Levels], c, f)
	}
	for i := range m.Evidence {
		m.Evidence[i] *= scale
	}
	return m
}

// newton takes one Newton step for the evidence of the levels of a column, and changes the log odds z by it.
func newton(evidence, z, probability []float64, rise rising, runs []compare.Run, level func(i int) compare.Level) {
	var slope, curve, step [compare.Levels]float64
	for i := range z {
		l := level(i)
		p := logistic.Probability(z[i])
		slope[l] += probability[i] - p
		curve[l] += p * (1 - p)
	}
	for l := range step {
		step[l] = min(mostStep, max(-mostStep, (slope[l]-ridge*evidence[l])/(curve[l]+ridge)))
		evidence[l] += step[l]
	}
	if rise != freely {
		before := slices.Clone(evidence)
		rise.raise(runs, evidence, curve[:])
		for l := range step {
			step[l] += evidence[l] - before[l]
		}
	}
	for i := range z {
		z[i] += step[level(i)]
	}
}

// rising says in which levels evidence rises with similarity.
type rising uint8

const (
	freely rising = iota // in none
	// ofTexts: in those of texts that differ. Equal values and distances are as they are: among neighbours in a series the same rare
	// date, or the next number, may count against a match.
	ofTexts
	// ofAll: in all. Where nothing but sources tells matches from others, what sources write in ways of their own would tell too.
	ofAll
)

// raise changes the evidence of the levels that rise as little as makes it rise with similarity.
func (r rising) raise(runs []compare.Run, evidence, curve []float64) {
	for _, run := range runs {
		end := run.To
		if r == ofTexts {
			end = run.Texts
		}
		raiseRun(evidence[run.From:end], curve[run.From:end])
	}
}

// raiseRun replaces neighbours that fall by their mean, weighted by their curves.
func raiseRun(evidence, curve []float64) {
	type run struct {
		sum, weight float64
		levels      int
	}
	var runs []run
	for l, e := range evidence {
		r := run{e * (curve[l] + ridge), curve[l] + ridge, 1}
		for n := len(runs); n > 0 && runs[n-1].sum/runs[n-1].weight > r.sum/r.weight; n-- {
			r = run{r.sum + runs[n-1].sum, r.weight + runs[n-1].weight, r.levels + runs[n-1].levels}
			runs = runs[:n-1]
		}
		runs = append(runs, r)
	}
	l := 0
	for _, r := range runs {
		for range r.levels {
			evidence[l] = r.sum / r.weight
			l++
		}
	}
}

// fillLevels gives levels that no candidate has the evidence of the next less similar level that some have.
func fillLevels(evidence []float64, c *compare.Comparison, f int) {
	var there [compare.Levels]bool
	for i := range c.Pairs {
		there[c.Levels[i*c.Width+f]] = true
	}
	for _, run := range compare.Runs(f == c.Width-1) {
		last, seen := 0.0, false
		if run.From == 1 {
			last = evidence[1] // what rises above it may have lowered it
		}
		for l := run.From; l < run.To; l++ {
			switch {
			case there[l]:
				last, seen = evidence[l], true
			case run.Below > 0 && !seen:
				last = evidence[run.Below+l-run.From]
			}
			evidence[l] = last
		}
	}
}
