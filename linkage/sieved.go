package linkage

import (
	"slices"

	"github.com/alike-dev/alike/candidates"
)

// sieved has the results about a table that is not held whole, by the numbers of records.
type sieved struct {
	side    int
	pairs   *candidates.Pairs // pairs that share keys; nil: given away
	closest []pair            // result of tables.closest
	own     []pair            // records of the table's sample with the closest ones of the same table

	survey // of the rows that are not held
}

// survey counts the rows of a table that are not held.
type survey struct {
	records []uint32   // for each token: rows that have it
	any     int        // rows that have any token
	columns [][]uint32 // for each column and token: rows that have it in a value without a number
	values  []int      // for each column: rows that have a value without a number
	filled  []int      // for each column: rows that have a value
}

// bytes returns the memory of the results.
func (s *sieved) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(4*len(s.records)*(len(s.columns)+1) + 8*len(s.closest) + 8*len(s.own))
}

// ofRecords returns, for the first tokens, the number of rows not held that have each, and the number of rows
// that have any token.
func (s *sieved) ofRecords(tokens int) (df []uint32, any int) {
	if s == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(s.records), s.any
}

// ofColumn returns, for the first tokens, the number of values without a number that have each in a column, and
// the number of such values.
func (s *sieved) ofColumn(f, tokens int) (df []uint32, values int) {
	if s == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(s.columns[f]), s.values[f]
}

// filledOf returns the number of rows of a side that are not held and have a value in a column.
func (s *sieved) filledOf(side, f int) int {
	if s == nil || side != s.side {
		return 0
	}
	return s.filled[f]
}
