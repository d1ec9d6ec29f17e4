// Package windows finds keys of records whose numbers and dates are near each other, though not equal.
package windows

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/record"
)

// A key is what a record has in two or three columns: of each one choice.
//
//	number, date:  the value, or one of the cells that it is in: for each of several widths two cells, which overlap by half,
//	               so that values which are half a width apart share one
//	text:          its first word, its first two or three, the initials of these, or all
//
// A key is used if about one record, and not a quarter of one, is expected to have it by chance: what is rarer is found by a
// wider cell, and what is more frequent makes no key. So the number of pairs grows as the records do, whatever is frequent.
// At least one of the columns is a number or a date. Whether a key is used follows from the key alone, so both records of a
// pair use it.

const (
	// mostMeasured and mostTexts are how many columns of numbers and dates, and of texts, keys are made of.
	mostMeasured = 3
	mostTexts    = 2
	// everyStep is how many steps of closeness lie between widths of cells.
	everyStep = 2
	// most is the largest number of keys of a record: those with the least hashes, so that records which share most of their
	// keys keep the same ones.
	most = 48
	// unit is the information of a key that one in e records has.
	unit = 1 << 10
)

// band is by how much the information of a key may exceed what is needed: that between widths of cells.
var band = everyStep * math.Ln2

type Column struct {
	At     int // place among the cells of a record
	Values *record.Column
	Scale  *closeness.Scale // nil: a text
	Shift  float64          // between the coordinates of the tables
	Counts [2][]uint32      // of each value in either table; of one table, or without a shift, the first are those of both
}

// Windows makes the keys of records.
type Windows struct {
	columns []column
	need    float64
}

type column struct {
	Column
	filled float64 // number of rows that have a value
	size   map[uint64]uint32
}

// New returns the windows of columns, in two tables of so many records, or in one of them. Unless there are two columns of
// numbers or dates it returns nil: one column does not make a window. O(values).
func New(columns []Column, records [2]int) *Windows {
	measured := slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.Scale == nil })
	texts := slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.Scale != nil })
	if len(measured) < 2 {
		return nil
	}
	n := float64(records[0])
	if records[1] > 0 {
		n = math.Sqrt(n * float64(records[1]))
	}
	w := &Windows{need: math.Log(max(n, 1) / 0.5)}
	for _, c := range slices.Concat(mostDistinct(measured, mostMeasured), mostDistinct(texts, mostTexts)) {
		w.columns = append(w.columns, newColumn(c))
	}
	return w
}

// mostDistinct returns the n columns with the most distinct values.
func mostDistinct(columns []Column, n int) []Column {
	sorting.Stable(columns, func(x, y Column) int { return cmp.Compare(y.Values.Len(), x.Values.Len()) })
	return columns[:min(n, len(columns))]
}

func newColumn(of Column) column {
	c := column{Column: of, size: map[uint64]uint32{}}
	var some []choice
	for side, counts := range of.Counts {
		for v, n := range counts {
			if n == 0 {
				continue
			}
			c.filled += float64(n)
			some = c.choices(some[:0], uint32(v), side)
			for _, x := range some {
				c.size[x.hash] += n
			}
		}
	}
	return c
}

// choice is a value, a cell or an opening, and its information.
type choice struct {
	hash uint64
	info float64
}

// choices appends what a value of a side may contribute to a key, without information.
func (c *column) choices(dst []choice, value uint32, side int) []choice {
	add := func(kind, x uint64) {
		dst = append(dst, choice{hash: hashing.Mix(hashing.Mix(uint64(c.At)<<8|kind) ^ x)})
	}
	add(0, uint64(value))
	if c.Scale == nil {
		for i, h := range c.Values.Openings(value) {
			if h != 0 {
				add(uint64(i)+1, h)
			}
		}
		return dst
	}
	x := c.Scale.Coordinate(c.Values.Point(value)) - float64(side)*c.Shift
	if math.IsNaN(x) {
		return dst
	}
	for step := 1; step <= closeness.Steps; step += everyStep {
		width := 2 * c.Scale.Width(step)
		if width <= 0 {
			continue
		}
		at := x / width
		add(uint64(2*step), uint64(int64(math.Floor(at))))
		add(uint64(2*step+1), uint64(int64(math.Floor(at+0.5))))
	}
	return dst
}

// informed sets the information of choices, leaves out those of one row, and puts the one with most first.
func (c *column) informed(some []choice) []choice {
	kept := some[:0]
	for _, x := range some {
		if n := c.size[x.hash]; n > 1 {
			x.info = math.Log(c.filled / float64(n))
			if kept = append(kept, x); x.info > kept[0].info {
				kept[0], kept[len(kept)-1] = x, kept[0]
			}
		}
	}
	return kept
}

// Keys returns a function that appends the keys of record i of a side's table to dst. It belongs to one goroutine.
func (w *Windows) Keys(table *record.Table, side int) func(dst []candidates.Key, i int) []candidates.Key {
	of := make([][]choice, len(w.columns))
	return func(dst []candidates.Key, i int) []candidates.Key {
		cells := table.Cells(i)
		for k := range w.columns {
			c := &w.columns[k]
			if of[k] = of[k][:0]; cells[c.At] > 0 {
				of[k] = c.informed(c.choices(of[k], cells[c.At]-1, side))
			}
		}
		first := len(dst)
		dst = w.join(dst, of, 0, joint{least: math.Inf(1)})
		if own := dst[first:]; len(own) > most {
			sorting.Func(own, func(x, y candidates.Key) int { return cmp.Compare(x.Hash, y.Hash) })
			dst = dst[:first+most]
		}
		return dst
	}
}

// joint is a key that is being made.
type joint struct {
	hash     uint64
	info     float64
	least    float64 // information of the choice that has least
	columns  int
	measured bool
}

// mostJoint is the largest number of columns of a key.
const mostJoint = 3

// join appends the keys that begin with a joint and go on with columns from a place on.
func (w *Windows) join(dst []candidates.Key, of [][]choice, from int, begun joint) []candidates.Key {
	for k := from; k < len(of); k++ {
		for _, x := range of[k] {
			next := joint{
				hashing.Mix(begun.hash + x.hash), begun.info + x.info, min(begun.least, x.info), begun.columns + 1,
				begun.measured || w.columns[k].Scale != nil,
			}
			switch {
			case next.info >= w.need+band:
			case next.info >= w.need:
				if next.columns > 1 && next.measured && next.info-next.least < w.need {
					dst = append(dst, candidates.Key{Hash: next.hash, Info: uint32(next.info * unit)})
				}
			case next.columns < mostJoint && next.info+reach(of[k+1:], mostJoint-next.columns) >= w.need-rounding:
				dst = w.join(dst, of, k+1, next)
			}
		}
	}
	return dst
}

// rounding is what sums of information in another order may differ by, at most.
const rounding = 1e-9

// reach returns an upper bound of the information that so many more choices add.
func reach(of [][]choice, more int) float64 {
	largest, sum := 0.0, 0.0
	for _, some := range of {
		if len(some) > 0 {
			sum, largest = sum+some[0].info, max(largest, some[0].info)
		}
	}
	return min(sum, float64(more)*largest)
}
