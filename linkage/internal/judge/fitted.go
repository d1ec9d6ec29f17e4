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
	e.Kinds, e.Decoys, e.Apart = f.Kinds, f.Decoys, f.Apart
	if e.Dispute = f.Dispute; f.ByKinds && len(e.Same) == 0 {
		e.Tell("what these records have most in common is not what makes them one thing, as with people of one household: " +
			"matches agree in nearly everything that tells things apart")
	}
	if e.differing = f.Differing; f.Differing != nil {
		e.Tell(fmt.Sprintf("records that have most in common differ in %s: where these belong to the thing itself, and not to what "+
			"happened to it, such records are not one thing; else name the columns in which one thing agrees: %s",
			fault.List(namesOf(e.Names, f.Differing)), fault.List(namesOf(e.Names, agreeing(f, len(e.Names))))))
	}
	if f.Replaced {
		e.shares = slices.Repeat([]float64{1}, len(e.shares))
		e.Tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", model.Duplicate))
	}
}

// namesOf returns the names of columns, of all names.
func namesOf(all []string, columns []int) (names []string) {
	for _, column := range columns {
		names = append(names, all[column])
	}
	return names
}

// agreeing returns the columns in which matches agree, of n: those of the kinds that are taken, or else all but those in which
// they differ.
func agreeing(f *model.Fitted, n int) (columns []int) {
	taken := 0
	agree := make([]int, n)
	for _, k := range f.Kinds {
		if !k.Taken {
			continue
		}
		taken++
		for _, column := range k.Agree {
			agree[column]++
		}
	}
	for column := range n {
		if agree[column] == taken && !slices.Contains(f.Differing, column) {
			columns = append(columns, column)
		}
	}
	return columns
}
