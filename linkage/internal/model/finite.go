package model

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// KeepFinite is the boundary that a learned model passes: nothing that is not finite decides about links, or is
// written. No table is known to lead to such a model. If one does, what remains known is how similar records are: the
// model is learned as if exactly the very similar pairs were the matches, with columns that share nothing.
func (f *Fitted) KeepFinite(c *compare.Comparison) {
	if f.Model.Finite() && Finite(f.Probability) {
		return
	}
	model, probability := ofTwins(c, slices.Repeat([]float64{1}, c.Width-1))
	*f = Fitted{Model: model, Probability: probability, Replaced: true}
}

func (m *Model) Finite() bool {
	return Finite(m.Evidence) && Finite(m.Share) && Finite([]float64{m.Prior})
}

func Finite(numbers []float64) bool {
	return !slices.ContainsFunc(numbers, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
