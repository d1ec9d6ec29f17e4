package compare

import (
	"slices"

	"github.com/alike-dev/alike/linkage/internal/closeness"
)

// Scale returns the scale by whose distances values are compared; nil: by tokens only.
func (c *column) Scale() *closeness.Scale { return c.near }

// UseScales compares the values of columns by their distances on scales too, where similarity tells little; nil for a column
// that has none. shifts are between the tables; nil: there are none. With two scales or more, texts are compared by how they
// begin. No pairs may be compared meanwhile. O(values).
func (c *Comparer) UseScales(scales []*closeness.Scale, shifts []closeness.Shift) {
	several := -1
	for f, scale := range scales {
		if scale != nil {
			several++
		}
		c.Columns[f].place(scale)
		if shifts != nil {
			c.Columns[f].shift = shifts[f].By
		}
	}
	for f := range c.Columns {
		c.Columns[f].begins = several > 0 && scales[f] == nil
	}
}

// place sets the coordinates of values on a scale.
func (c *column) place(scale *closeness.Scale) {
	if c.near, c.at = scale, nil; scale == nil {
		return
	}
	c.at = make([]float64, c.Len())
	for v, point := range c.Points() {
		c.at[v] = scale.Coordinate(point)
	}
}

// closer returns the level of two values that are near each other, or begin alike, and have at most a similarity of this
// level; else the level.
func (c *column) closer(a, b uint32, l Level) Level {
	if l >= Near {
		return l
	}
	step, less := 0, false
	switch {
	case c.near != nil:
		x, y := c.at[a], c.at[b]-c.shift
		step, less = c.near.Step(x, y), c.sided && y < x
	case c.begins:
		step = c.openingStep(a, b)
	}
	switch {
	case step == 0:
		return l
	case less:
		return firstClose + closeness.Steps + Level(step) - 1
	}
	return firstClose + Level(step) - 1
}

// openingStep returns a step for two texts that begin alike: 1 if their first two words have the same initials, 2 if their
// first three do, more if these words are the same; 0 for others.
func (c *column) openingStep(a, b uint32) (step int) {
	x, y := c.Openings(a), c.Openings(b)
	for k, place := range [...]int{3, 4, 1, 2} {
		if x[place] != 0 && x[place] == y[place] {
			step = k + 1
		}
	}
	return step
}

// agreeingStep is the step of closeness from which two values count as the same for Shares: ½^4 of random pairs are as near.
const agreeingStep = 3

// agreeing tells whether two values are that near each other.
func (c *column) agreeing(a, b uint32) bool {
	return c.near != nil && c.near.Step(c.at[a], c.at[b]-c.shift) >= agreeingStep
}

// HasClose tells whether the evidence of the levels of a column has any of closeness.
func HasClose(evidence []float64) bool {
	return slices.ContainsFunc(evidence[firstClose:firstExchanged], func(x float64) bool { return x != 0 })
}
