package linkage

import (
	"github.com/alike-dev/alike/candidates"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// sieved has the results about a table that is not held whole, by the numbers of records.
type sieved struct {
	side    int
	pairs   *candidates.Pairs // pairs that share keys; nil: given away
	closest []compare.Pair    // result of tables.closest
	own     []compare.Pair    // records of the table's sample with the closest ones of the same table

	rest *compare.Rest // of the rows that are not held
}

// bytes returns the memory of the results.
func (s *sieved) bytes() int64 {
	if s == nil {
		return 0
	}
	return s.rest.Bytes() + int64(8*len(s.closest)+8*len(s.own))
}

// restOf returns the counts of the rows that are not held; nil: all are held.
func (s *sieved) restOf() *compare.Rest {
	if s == nil {
		return nil
	}
	return s.rest
}
