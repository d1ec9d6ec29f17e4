package linkage

import (
	"fmt"
	"math"
	"slices"
)

// keepFinite is the boundary that a learned model passes: nothing that is not finite decides about links, or is
// written. No table is known to lead to such a model. If one does, what remains known is how similar records are: the
// model is learned as if exactly the very similar pairs were the matches, with columns that share nothing.
func (e *examiner) keepFinite() {
	if e.model.finite() && finite(e.sampled) {
		return
	}
	e.shares = slices.Repeat([]float64{1}, len(e.shares))
	e.calibrated = false
	e.model, e.sampled = ofTwins(e.sample, e.shares)
	e.tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", duplicate))
}

func (m *model) finite() bool {
	return finite(m.evidence) && finite(m.share) && finite([]float64{m.prior})
}

// finite reports whether all numbers are finite.
func finite(numbers []float64) bool {
	return !slices.ContainsFunc(numbers, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
