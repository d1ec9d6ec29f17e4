// Package held has the tables of a join, as far as they are held in memory.
package held

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/record"
)

// Tables are the two tables, or the one, that are joined.
type Tables struct {
	Left, Right *record.Table // Right is nil for one table
	Numbering   record.Numbering
	Records     [2]int        // numbers of left and right records, held or not; for one table the second is 0
	Kinds       []record.Kind // by which the compared columns are cut
	Kept        []string      // columns whose values are kept unchanged
	IDColumns   [2]string     // of the left and the right table
}

// All returns the one or two tables.
func (t *Tables) All() []*record.Table {
	if t.Right == nil {
		return []*record.Table{t.Left}
	}
	return []*record.Table{t.Left, t.Right}
}

func (t *Tables) Set(side int, table *record.Table) {
	if side == 0 {
		t.Left = table
	} else {
		t.Right = table
	}
}

// Other returns the right table, or the only one.
func (t *Tables) Other() *record.Table {
	if t.Right == nil {
		return t.Left
	}
	return t.Right
}

// Empty tells whether a table has no records.
func (t *Tables) Empty() bool { return t.Left.Rows() == 0 || t.Other().Rows() == 0 }

// IDs returns the ids of the records of a pair.
func (t *Tables) IDs(p compare.Pair) (a, b string) {
	return string(t.Left.ID(int(p.A))), string(t.Other().ID(int(p.B)))
}

// KeptOf returns the value of a record in a column that was kept.
func (t *Tables) KeptOf(table *record.Table, row uint32, column string) []byte {
	return table.Kept(int(row), slices.Index(t.Kept, column), len(t.Kept))
}

// CountsOf returns how many records of either table have each value of a column. O(records).
func (t *Tables) CountsOf(column int) (counts [2][]uint32) {
	for side, table := range t.All() {
		counts[side] = make([]uint32, t.Numbering.Column(column).Len())
		for i := range table.Rows() {
			if cell := table.Cells(i)[column]; cell > 0 {
				counts[side][cell-1]++
			}
		}
	}
	return counts
}

// Some returns the numbers of about n records of a side, chosen by a hash of the number.
func (t *Tables) Some(side, n int) (numbers []uint32) {
	records := t.Records[side]
	part := uint64(records+n-1) / uint64(n)
	for i := range uint32(records) {
		if hashing.Mix(uint64(i)+1)%part == 0 {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Places turns pairs of record numbers, of sides a and b, into pairs of rows.
func (t *Tables) Places(numbers []compare.Pair, a, b int) []compare.Pair {
	all, rows := t.All(), make([]compare.Pair, len(numbers))
	for i, p := range numbers {
		rows[i] = compare.Pair{A: all[a].Row(p.A), B: all[b].Row(p.B)}
	}
	return rows
}
