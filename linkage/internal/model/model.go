package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Model has the evidence of each level of each column for a match: the logarithm of the ratio of the
// level's frequency among matches to that among other candidates. It is the model of Fellegi and
// Sunter ("A theory for record linkage", JASA 1969), with the frequencies estimated by expectation
// and maximisation (W. E. Winkler, "Using the EM algorithm for weight computation in the
// Fellegi-Sunter model", 1988). It compares with other candidates, not with random pairs: these are
// the non-matches that are most similar.
type Model struct {
	Width    int
	Evidence []float64 // of level l of column f at f·levels+l
	Share    []float64 // factor for the evidence of each column: see compare.Comparer.Shares
	Prior    float64   // log odds of a candidate before any evidence
}

// Constants of the model, the same for all tables.
const (
	// redundancy divides the sum of the evidence, because the columns of a record, and the record
	// as a whole, partly say the same.
	redundancy = 1.5
	// pseudo is the number of pseudo-counts, with the frequencies of all candidates, that are added
	// to matches and to others, so that rare levels have little evidence.
	pseudo = 2.0
	// mostSteps is the largest number of steps of expectation and maximisation.
	mostSteps = 40
)

// clearness returns the F1 of choosing the candidates that are more likely matches than not, as expected
// from their probabilities.
func clearness(probability []float64) float64 {
	right, kept := 0.0, 0.0
	for _, p := range probability {
		if p > 0.5 {
			right, kept = right+p, kept+1
		}
	}
	return 2 * right / max(kept+SumOf(probability), 1e-300)
}

func NewModel(c *compare.Comparison, share []float64) *Model {
	return &Model{Width: c.Width, Share: append(slices.Clone(share), 1), Evidence: make([]float64, c.Width*compare.Levels)}
}

func distance(x, y []float64) (d float64) {
	for i := range x {
		d += math.Abs(x[i] - y[i])
	}
	return d
}

// Score returns the log odds of a candidate without regard to its rivals.
func (m *Model) Score(levels []compare.Level) float64 {
	return m.Prior + m.sum(levels)/m.discount()
}

// Adds returns what a level of a column adds to the score.
func (m *Model) Adds(f int, l compare.Level) float64 {
	return m.Share[f] * m.Evidence[f*compare.Levels+int(l)] / m.discount()
}

func (m *Model) discount() float64 {
	if m.Width == 2 { // with one column, the record as a whole has no evidence of its own
		return 1
	}
	return redundancy
}

// sum returns the evidence of all columns.
func (m *Model) sum(of []compare.Level) (z float64) {
	for f, l := range of {
		z += m.Share[f] * m.Evidence[f*compare.Levels+int(l)]
	}
	return z
}

// learn sets the evidence from the probability of each candidate.
func (m *Model) learn(c *compare.Comparison, probability []float64) {
	for f := range c.Width {
		var match, other [compare.Levels]float64
		for i, p := range probability {
			l := c.Levels[i*c.Width+f]
			match[l] += p
			other[l] += 1 - p
		}
		var matches, others float64
		for l := 1; l < compare.Levels; l++ {
			matches += match[l]
			others += other[l]
		}
		for l := 1; l < compare.Levels; l++ {
			m.Evidence[f*compare.Levels+l] = 0
			if share := (match[l] + other[l]) / (matches + others); share > 0 {
				a := (match[l] + pseudo*share) / (matches + pseudo)
				b := (other[l] + pseudo*share) / (others + pseudo)
				m.Evidence[f*compare.Levels+l] = math.Log(max(a, 1e-9) / max(b, 1e-9))
			}
		}
	}
}

func SumOf(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func mean(x []float64) float64 { return SumOf(x) / max(1, float64(len(x))) }

func LogOdds(p float64) float64 {
	p = min(max(p, 1e-9), 1-1e-9)
	return math.Log(p / (1 - p))
}

func (m *Model) Finite() bool {
	return Finite(m.Evidence) && Finite(m.Share) && Finite([]float64{m.Prior})
}

func Finite(numbers []float64) bool {
	return !slices.ContainsFunc(numbers, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// matchesOf returns the candidates that are more likely matches than not.
func matchesOf(probability []float64) (some []int) {
	for i, p := range probability {
		if p > 0.5 {
			some = append(some, i)
		}
	}
	return some
}
