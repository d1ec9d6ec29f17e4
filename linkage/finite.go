package linkage

import (
	"fmt"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/model"
)

// takeFitted takes the result of a fit, and says if it is not what was fitted.
func (e *examiner) takeFitted(f *model.Fitted) {
	e.model, e.sampled, e.calibrated = f.Model, f.Probability, f.Calibrated
	if f.Replaced {
		e.shares = slices.Repeat([]float64{1}, len(e.shares))
		e.tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", model.Duplicate))
	}
}
