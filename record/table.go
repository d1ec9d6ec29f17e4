package record

import (
	"math"
	"slices"
	"sort"
)

// A Table holds the records of a table. After all chunks are added it is read-only, and safe for concurrent
// use. A row takes 4 bytes a column, and 4 bytes plus its length for its id.
type Table struct {
	Columns   int
	numbering *Numbering
	pages     [][]uint32 // cells of pageRows rows each: 1 + the number of the value, 0: missing
	chunks    []*Chunk   // ids and kept values
	first     []int      // row of each chunk, and the number of all
	numbers   []uint32   // of the rows, ascending, see Chunk.Number; nil: these are numbered from 0 on
	bytes     int64      // of pages and chunks
	read      uint64     // means nothing: that it is kept keeps touchValues
}

const pageRows = 1 << 12

// NewTable returns an empty table whose rows have so many values.
func NewTable(columns int, n *Numbering) *Table {
	for len(n.columns) < columns {
		n.columns = append(n.columns, &Column{})
	}
	return &Table{Columns: columns, numbering: n, first: []int{0}}
}

// Add appends the rows of a chunk; the chunk then belongs to the table. O(cells, and tokens of distinct
// values).
func (t *Table) Add(c *Chunk) {
	numbers := make([]uint32, len(c.values))
	start, cut := 0, 0
	for i, v := range c.values {
		if i%touched == 0 {
			values := c.values[i:min(i+touched, len(c.values))]
			end := start
			for _, v := range values {
				end += v.cut()
			}
			t.read += t.numbering.touchValues(values) + t.numbering.tokens.touch(c.tokens[start:end])
		}
		n := v.cut()
		var of extent
		if v.tokens != notCut {
			of = c.extents[cut]
			cut++
		}
		if v.whole.Words != 0 {
			numbers[i] = t.numbering.value(v, c.tokens[start:start+n], c.kinds[v.column], of)
		}
		start += n
	}
	for row := range c.Rows() {
		at := t.Rows() + row
		if at%pageRows == 0 {
			t.pages = append(t.pages, make([]uint32, 0, pageRows*t.Columns))
			t.bytes += int64(4 * pageRows * t.Columns)
		}
		page := &t.pages[at/pageRows]
		for f, cell := range c.cells[row*t.Columns : (row+1)*t.Columns] {
			if cell > 0 {
				number := numbers[cell-1]
				t.numbering.columns[f].counts[number]++
				cell = 1 + number
			}
			*page = append(*page, cell)
		}
	}
	c.seen, c.values, c.tokens, c.cells, c.extents = Dictionary{}, nil, nil, nil, nil
	c.ids, c.idEnds, c.kept, c.keptEnds = exact(c.ids), exact(c.idEnds), exact(c.kept), exact(c.keptEnds)
	t.numbers = append(t.numbers, c.numbers...)
	c.numbers = nil
	t.chunks = append(t.chunks, c)
	t.bytes += int64(cap(c.ids) + 4*cap(c.idEnds) + cap(c.kept) + 8*cap(c.keptEnds))
	t.first = append(t.first, t.Rows()+c.Rows())
}

// Bytes returns the memory of the rows, without their values.
func (t *Table) Bytes() int64 { return t.bytes + int64(4*cap(t.numbers)) }

// Number returns the number of a row. It is the row itself unless only some rows of a larger table are
// held.
func (t *Table) Number(row int) int {
	if t.numbers == nil {
		return row
	}
	return int(t.numbers[row])
}

// Row returns the row of a number, which must be held. O(log rows).
func (t *Table) Row(number uint32) uint32 {
	if t.numbers == nil {
		return number
	}
	row, _ := slices.BinarySearch(t.numbers, number)
	return uint32(row)
}

// exact returns a copy without spare capacity.
func exact[E any](s []E) []E { return append(make([]E, 0, len(s)), s...) }

// Rows returns how many rows the table has.
func (t *Table) Rows() int { return t.first[len(t.first)-1] }

// Cells returns for each column of a row 1 + the number of the value, 0 if it is missing.
func (t *Table) Cells(row int) []uint32 {
	page := t.pages[row/pageRows]
	start := row % pageRows * t.Columns
	return page[start : start+t.Columns]
}

// chunk returns the chunk of a row, and its place in there.
func (t *Table) chunk(row int) (c *Chunk, at int) {
	i := sort.SearchInts(t.first, row+1) - 1
	return t.chunks[i], row - t.first[i]
}

// ID returns the id of a row.
func (t *Table) ID(row int) []byte {
	c, at := t.chunk(row)
	start := uint32(0)
	if at > 0 {
		start = c.idEnds[at-1]
	}
	return c.ids[start:c.idEnds[at]]
}

// Kept returns value i of the values of a row that are passed through unchanged. of is their number in a row.
func (t *Table) Kept(row, i, of int) []byte {
	c, at := t.chunk(row)
	at = at*of + i
	start := 0
	if at > 0 {
		start = c.keptEnds[at-1]
	}
	return c.kept[start:c.keptEnds[at]]
}

// Weights are inverse document frequencies, log(N/df) in units of 1/WeightUnit, rounded, by token. They are
// at least 1, so that a token of all values still counts if there is no other.
type Weights []uint16

// WeightUnit is the weight of a token that 1 in e values has.
const WeightUnit = 1 << 10

// IDF returns the weights for document frequencies among n values.
func IDF(df []uint32, n int) Weights {
	w := make(Weights, len(df))
	for i, count := range df {
		w[i] = 1
		if count > 0 {
			w[i] = uint16(max(1, math.Round(math.Log(float64(n)/float64(count))*WeightUnit)))
		}
	}
	return w
}
