package judge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/parallel"
	"github.com/alike-dev/alike/record"
)

const (
	// probed is about the number of records whose most similar partners show which distances tell.
	probed = 3000
	// tellingStep is the step of closeness by which it is measured whether distances in a column tell, and tellingRate by how
	// much more often than by chance the most similar pairs have different values that near.
	tellingStep = 3
	tellingRate = 2
	// leastTold is by how much larger the share of the best pairs must be than that of others, of those so near, for them to agree.
	leastTold = 1.0 / 3
	// leastProbed is the least number of pairs with values that say so.
	leastProbed = 30
	// beyond is by how many standard deviations their number must exceed what chance makes.
	beyond = 5
)

// useDistances compares numbers and dates by their distances if these tell, and makes windows of them if those of two columns
// or more do. They do if the most similar pairs are near each other without being equal, as an amount and the same less a fee, twice
// as often as chance explains: most of those are near because they are the same. Birth dates, which are either equal or
// wrong, do not tell. Of a table that is not held whole distances are not known.
func (e *Examiner) useDistances(ctx context.Context) error {
	t := e.finder
	if t.Sieved != nil || !t.MayHaveDistances() || t.BySimilarity() {
		return nil
	}
	scales, shifts := make([]*closeness.Scale, len(e.Columns)), make([]closeness.Shift, len(e.Columns))
	for f := range scales {
		column := t.Numbering.Column(f)
		scales[f] = closeness.NewScale(column.Points(), column.Counts())
	}
	v, err := t.Vocabulary(ctx)
	if err != nil {
		return err
	}
	if t.Right != nil {
		if err := e.findShifts(ctx, v, scales, shifts); err != nil {
			return err
		}
	}
	pairs, err := t.Closest(ctx, v, probed)
	if err != nil {
		return err
	}
	e.UseScales(scales, shifts)
	if err := e.keepTelling(ctx, pairs, scales); err != nil {
		return err
	}
	e.UseScales(scales, shifts)
	t.UseWindows(scales, shifts)
	return nil
}

// findShifts sets the shifts between columns of the two tables, with the scales of such columns.
func (e *Examiner) findShifts(ctx context.Context, v *find.Vocabulary, scales []*closeness.Scale, shifts []closeness.Shift) error {
	pairs, err := e.finder.Closest(ctx, v.Unmeasured(e.finder.Kinds), probed)
	if err != nil {
		return err
	}
	found := make([]*closeness.Shift, len(scales))
	err = parallel.Ranges(ctx, e.finder.Threads, len(scales), 1, func(int) func(from, to int) {
		return func(f, _ int) {
			if scales[f] != nil {
				found[f] = shiftOf(e.Comparer, e.finder, f, pairs)
			}
		}
	})
	if err != nil {
		return err
	}
	for f, by := range found {
		if by == nil {
			continue
		}
		if scale := closeness.NewShiftedScale(e.finder.Numbering.Column(f).Points(), e.finder.CountsOf(f), *by); scale != nil {
			scales[f], shifts[f], e.Shifts = scale, *by, shifts
			e.Tell(shiftNote(e.Names[f], e.finder.Kinds[f] == record.Date, *by))
		}
	}
	return nil
}

// shiftOf returns the shift of a column between the records of pairs; nil if there is none.
func shiftOf(c *compare.Comparer, t *find.Finder, f int, pairs []compare.Pair) *closeness.Shift {
	column := t.Numbering.Column(f)
	point := func(cell uint32) float64 {
		if cell == 0 {
			return math.NaN()
		}
		return column.Point(cell - 1)
	}
	left, right := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		left[i], right[i] = point(c.Left.Cells(int(p.A))[f]), point(c.Right.Cells(int(p.B))[f])
	}
	by, ok := closeness.FindShift(left, right, t.Kinds[f] == record.Date)
	if !ok {
		return nil
	}
	return &by
}

// keepTelling sets the scales whose distances do not tell, by pairs of similar records, to nil. Distances from a shift do.
func (e *Examiner) keepTelling(ctx context.Context, pairs []compare.Pair, scales []*closeness.Scale) error {
	found, err := e.Compare(ctx, e.Matchers, pairs)
	if err != nil {
		return err
	}
	rank := make([]float64, len(pairs))
	for i, w := range found.Wholes {
		rank[i] = float64(w)
	}
	best := model.Graph{Pairs: pairs, Left: found.Left, Right: found.Right}.Mutual(rank, found.Wholes)
	telling := 0
	for f, scale := range scales {
		if scales[f] = nil; scale == nil || len(best) < leastProbed && !isShifted(e.Shifts, f) {
			continue
		}
		if d := distancesOf(found, best, f); isShifted(e.Shifts, f) || d.tell() {
			scales[f] = scale.AgreeingFrom(d.agreeing())
			telling++
		}
	}
	if telling == 1 && e.Shifts == nil && !mostlyThere(found, best, scales) {
		clear(scales)
	}
	return nil
}

// shiftNote says what a shift of a column is.
func shiftNote(column string, dates bool, by closeness.Shift) string {
	what := fmt.Sprintf("differ by %.4g", by.By)
	switch {
	case dates:
		what = fmt.Sprintf("are %.4g days apart", by.By)
	case by.Ratio:
		what = fmt.Sprintf("differ by a factor of %.4g", math.Exp(by.By))
	}
	return fmt.Sprintf("values of %s in the right table that belong to those in the left one mostly %s: their distance from that is compared", column, what)
}

// isShifted tells whether there is a shift between the tables in a column.
func isShifted(shifts []closeness.Shift, f int) bool {
	return shifts != nil && shifts[f] != (closeness.Shift{})
}

// mostlyThere tells whether at least half of the best pairs have values in the column with a scale. The only distance that is
// known of few pairs changes little, and its chance is not known well.
func mostlyThere(c *compare.Comparison, best []int, scales []*closeness.Scale) bool {
	there := 0
	for f, scale := range scales {
		for _, i := range best {
			if scale != nil && c.Of(i)[f] != compare.Missing {
				there++
			}
		}
	}
	return 2*there >= len(best)
}

// distances are how near the values of pairs in a column are: of pairs in [0] that are not the best ones, and in [1] of those that are.
type distances struct {
	there [2]float64                      // in how many both records have values
	close [closeness.Steps + 1][2]float64 // of each step of closeness from tellingStep on: in how many these differ, and are that near
}

// distancesOf returns the distances in a column of the best pairs and of others. Those that are as alike as nine tenths of the best
// ones do not count: they may be further copies of one thing.
func distancesOf(c *compare.Comparison, best []int, f int) (d distances) {
	isBest := make([]bool, len(c.Pairs))
	wholes := make([]float32, 0, len(best))
	for _, i := range best {
		isBest[i] = true
		wholes = append(wholes, c.Wholes[i])
	}
	slices.Sort(wholes)
	for i, of := range isBest {
		k := 0
		switch {
		case of:
			k = 1
		case c.Wholes[i] >= wholes[len(wholes)/10]: // as alike as the best ones: a record may have several partners
			continue
		}
		l := c.Of(i)[f]
		if l != compare.Missing {
			d.there[k]++
		}
		for step := tellingStep; step <= closeness.Steps && compare.IsClose(l, step); step++ {
			d.close[step][k]++
		}
	}
	return d
}

// tell tells whether the values of the best pairs are near each other, without being equal, more often than those of random pairs
// and of the other pairs are. Others, such as offers of one brand, may be near for their own reasons. How near is that of the step
// that shows it: a day of many years tells, though few pairs are a day apart.
func (d *distances) tell() bool {
	if d.there[1] < leastProbed {
		return false
	}
	for step := tellingStep; step <= closeness.Steps; step++ {
		near := d.close[step]
		chance := d.there[1] * max(closeness.Share(step), near[0]/max(d.there[0], 1))
		if near[1] >= tellingRate*chance && near[1] >= chance+beyond*math.Sqrt(chance) && (step == tellingStep || near[1] >= leastProbed) {
			return true
		}
	}
	return false
}

// agreeing returns the step from which values agree: that by which most of the best pairs are told from most of the others; 0: none
// tells that many. So places of one town do not agree, and offers of one brand at similar prices neither agree nor differ.
func (d *distances) agreeing() (from int) {
	told := leastTold
	for step := tellingStep; step <= closeness.Steps; step++ {
		others := max(closeness.Share(step), d.close[step][0]/max(d.there[0], 1))
		if of := d.close[step][1]/max(d.there[1], 1) - others; of >= told {
			from, told = step, of
		}
	}
	return from
}
