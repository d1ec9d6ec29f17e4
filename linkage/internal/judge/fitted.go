package judge

import (
	"fmt"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/model"
)

// takeFitted takes the result of a fit, and says if it is not what was fitted.
func (e *Examiner) takeFitted(f *model.Fitted) {
	e.Model, e.Sampled, e.calibrated, e.byKinds = f.Model, f.Probability, f.Calibrated, f.ByKinds
	if e.Disputed = f.Disputed; f.ByKinds {
		e.Tell("what these records have most in common is not what makes them one thing, as with people of one household: " +
			"matches agree in nearly everything that tells things apart")
	}
	if f.Replaced {
		e.shares = slices.Repeat([]float64{1}, len(e.shares))
		e.Tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", model.Duplicate))
	}
}
