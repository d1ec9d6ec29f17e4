package find

import (
	"github.com/alike-dev/alike/candidates"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Sieved has the results about a table that is not held whole, by the numbers of records. nil: all are.
type Sieved struct {
	Side    int
	Closest []compare.Pair    // result of Finder.Closest
	Own     []compare.Pair    // records of the table's sample with the closest ones of the same table
	Rest    *compare.Rest     // of the rows that are not held
	pairs   *candidates.Pairs // pairs that share keys; nil: given away
}

// Is tells whether the table of a side is not held whole.
func (s *Sieved) Is(side int) bool { return s != nil && s.Side == side }

// Bytes returns the memory of the results.
func (s *Sieved) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.Rest.Bytes() + int64(8*len(s.Closest)+8*len(s.Own))
}

// RestOf returns the counts of the rows that are not held; nil: all are held.
func (s *Sieved) RestOf() *compare.Rest {
	if s == nil {
		return nil
	}
	return s.Rest
}
