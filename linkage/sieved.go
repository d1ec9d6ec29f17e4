package linkage

import (
	"slices"

	"github.com/alike-dev/alike/candidates"
)

// sieved is what was found of a table that is not held whole, by the numbers of records.
type sieved struct {
	side    int
	pairs   *candidates.Pairs // that share keys; nil: somebody has them
	closest []pair            // as closest returns them
	own     []pair            // of the table's sample with the records of the table that are closest

	// What is known of the rows that are not held.
	survey
}

// survey is what is known of the rows of a table that are not held.
type survey struct {
	records []uint32   // of each token: how many rows have it
	any     int        // rows that have any
	columns [][]uint32 // of each column and token: how many rows have it in a value that has no number
	values  []int      // of each column: how many rows have such a value
	filled  []int      // of each column: how many rows have a value
}

// bytes returns what is taken.
func (s *sieved) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(4*len(s.records)*(len(s.columns)+1) + 8*len(s.closest) + 8*len(s.own))
}

// ofRecords returns in how many rows that are not held each of so many tokens is, and how many of the rows
// have any.
func (s *sieved) ofRecords(tokens int) (df []uint32, any int) {
	if s == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(s.records), s.any
}

// ofColumn returns in how many values without a number each token of a column is, and how many such
// values rows have.
func (s *sieved) ofColumn(f, tokens int) (df []uint32, values int) {
	if s == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(s.columns[f]), s.values[f]
}

// filledOf returns how many rows of a side that are not held have a value in a column.
func (s *sieved) filledOf(side, f int) int {
	if s == nil || side != s.side {
		return 0
	}
	return s.filled[f]
}
