package compare

import "github.com/alike-dev/alike/record"

// nearRows is the number of rows that are fetched together. Their values fit in a near cache.
const nearRows = 16

// A nearer prefetches the values of the next rows into the processor's caches, on one goroutine.
type nearer struct {
	of   *record.Numbering
	rows [][]uint32
	read uint32 // has no meaning; it prevents the compiler from removing the reads
}

// fetch fetches n rows. cells returns the values of each.
func (x *nearer) fetch(n int, cells func(i int) []uint32) {
	x.rows = x.rows[:0]
	for i := range n {
		x.rows = append(x.rows, cells(i))
	}
	x.read += x.of.Touch(x.rows)
}

// atRow prefetches the next nearRows rows of a table whenever row is the first that was not prefetched yet.
func (x *nearer) atRow(t *record.Table, row, from, to int) {
	if (row-from)%nearRows == 0 {
		x.fetch(min(nearRows, to-row), func(i int) []uint32 { return t.Cells(row + i) })
	}
}
