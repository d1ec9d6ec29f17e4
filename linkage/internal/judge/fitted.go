package judge

import (
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// takeFitted takes the result of a fit, and says if it is not what was fitted.
func (e *Examiner) takeFitted(f *model.Fitted) {
	e.Model, e.Sampled, e.calibrated, e.ByKinds = f.Model, f.Probability, f.Calibrated, f.ByKinds
	e.Kinds = f.Kinds
	if e.Disputed = f.Disputed; f.ByKinds && len(e.Same) == 0 {
		e.Tell("what these records have most in common is not what makes them one thing, as with people of one household: " +
			"matches agree in nearly everything that tells things apart")
	}
	if e.differing = f.Differing; f.Differing != nil {
		var names []string
		for _, column := range f.Differing {
			names = append(names, e.Names[column])
		}
		e.Tell(fmt.Sprintf("records that have most in common differ in %s: where these belong to the thing itself, and not to what "+
			"happened to it, such records are not one thing; else name the columns to compare, without these", fault.List(names)))
	}
	if f.Replaced {
		e.shares = slices.Repeat([]float64{1}, len(e.shares))
		e.Tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", model.Duplicate))
	}
}
