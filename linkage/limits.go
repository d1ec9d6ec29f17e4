package linkage

import (
	"cmp"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// manyRecords is the number of records above which candidates are the pairs that share a key, and not the most
// similar pairs. If the configuration asks for the latter all the same, their similarity is that of words only: among
// so many records there are enough that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// limits are the sizes from which a join takes another way, and what tests watch. The zero value of a field is the
// default; only tests have others.
type limits struct {
	many       int                     // records above which candidates are the pairs that share a key
	batch      int                     // candidates that are compared at once if there are many
	muchLarger int64                   // least ratio, in records and in bytes, of a table that is held in part to the other one
	own        int                     // most records of a table that are searched for in their own table
	strangers  uint64                  // most pairs of records from which correlations of columns are estimated
	unfiltered bool                    // sort the keys of all records, not only those that pass a Bloom filter of the smaller table's
	noteDue    func() bool             // tells when progress is noted; nil: now and then
	afterNote  func(kind string) error // called after each note, may end the join
}

// complete sets the defaults.
func (l *limits) complete() {
	l.many = cmp.Or(l.many, manyRecords)
	l.batch = cmp.Or(l.batch, 1<<17)
	l.muchLarger = cmp.Or(l.muchLarger, 50)
	l.own = cmp.Or(l.own, 5000)
	l.strangers = cmp.Or(l.strangers, compare.RandomPairs)
}
