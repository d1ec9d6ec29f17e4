package linkage

import "github.com/alike-dev/alike/record"

// nearRows is how many rows are fetched together: their values fit in a near cache.
const nearRows = 16

// A nearer fetches the values of rows that will be looked at next into the processor's caches, on
// one goroutine.
type nearer struct {
	of   *record.Numbering
	rows [][]uint32
	read uint32 // means nothing: that it is kept keeps the reading
}

// fetch fetches n rows, of which cells returns each one's values.
func (x *nearer) fetch(n int, cells func(i int) []uint32) {
	x.rows = x.rows[:0]
	for i := range n {
		x.rows = append(x.rows, cells(i))
	}
	x.read += x.of.Touch(x.rows)
}

// atRow fetches the next rows of a table, of those from one to another, when one is begun that
// was not.
func (x *nearer) atRow(t *record.Table, row, from, to int) {
	if (row-from)%nearRows == 0 {
		x.fetch(min(nearRows, to-row), func(i int) []uint32 { return t.Cells(row + i) })
	}
}
