package decide

import "github.com/alike-dev/alike/linkage/internal/model"

// Estimates are the expected quality of links.
type Estimates struct {
	Matches    float64 // expected number among all candidates
	Precision  float64
	Recall     float64
	RecallMost float64 // the recall if no pair with a probability below a half were a match
	// PrecisionLeast is the precision if all links were wrong that contradict others of one table.
	PrecisionLeast float64
}

// LargeDifference is the difference of two estimates from which both matter.
const LargeDifference = 0.05

// Estimate returns the expected quality of links among candidates, with shed matches expected among those that were
// dropped. If a record has at most one partner, fewer is the number of records of the smaller table, otherwise 0.
func Estimate(g model.Graph, links []int, probability []float64, shed float64, fewer int) (e Estimates) {
	e.Matches = model.SumOf(probability) + shed
	right := 0.0
	for _, i := range links {
		right += probability[i]
	}
	e.Precision = right / max(1, float64(len(links)))
	e.Recall = right / max(e.Matches, 1e-300)
	likely := 0.0
	for _, p := range probability {
		if p > 0.5 {
			likely += p
		}
	}
	e.RecallMost = right / max(likely, right, 1e-300)
	e.PrecisionLeast = e.Precision
	if fewer > 0 && e.RecallMost-e.Recall >= LargeDifference {
		// The model does not know how many records without a link have a partner; possibly all have one.
		e.Recall = min(e.Recall, right/float64(fewer))
	}
	if g.Right == 0 {
		agree := transitivityOf(g.Left, g.Pairs, links)
		e.Recall = min(e.Recall, float64(len(links))/max(1, agree.connected))
		kept := 0.0
		for _, i := range agree.kept {
			kept += probability[i]
		}
		e.PrecisionLeast = kept / max(1, float64(len(links)))
	}
	return e
}
