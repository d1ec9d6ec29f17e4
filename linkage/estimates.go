package linkage

import "fmt"

// unsure is how far apart two estimates are from which on both are said.
const unsure = 0.05

// Estimates says in words which share of the links is right, and which share of the matches was
// found, as far as that is known.
func (r *Result) Estimates() string {
	right := fmt.Sprintf("%.1f %% of the links", 100*r.Precision)
	if r.Precision-r.PrecisionLeast >= unsure {
		right = fmt.Sprintf("%.0f %% of the links or more (%.1f %% if those that contradict each other are right)", 100*r.PrecisionLeast, 100*r.Precision)
	}
	found := fmt.Sprintf("%.1f %%", 100*r.Recall)
	if r.RecallMost-r.Recall >= unsure {
		found = fmt.Sprintf("%.0f %% to %.0f %%", 100*r.Recall, 100*r.RecallMost)
	}
	return fmt.Sprintf("likely right: %s; likely found: %s of the matches", right, found)
}
