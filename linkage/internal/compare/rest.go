package compare

import (
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/record"
)

// Rest counts the rows of a table that are not held.
type Rest struct {
	records []uint32   // for each token: rows that have it
	any     int        // rows that have any token
	columns [][]uint32 // for each column and token: rows that have it in a value without a number
	values  []int      // for each column: rows that have a value without a number
	Filled  []int      // for each column: rows that have a value
}

// NewRest returns counts of nothing yet.
func NewRest(tokens, columns int) *Rest {
	r := &Rest{records: make([]uint32, tokens), columns: make([][]uint32, columns), values: make([]int, columns), Filled: make([]int, columns)}
	for f := range r.columns {
		r.columns[f] = make([]uint32, tokens)
	}
	return r
}

// Bytes returns the memory of the counts.
func (r *Rest) Bytes() int64 { return int64(4 * len(r.records) * (len(r.columns) + 1)) }

// ofRecords returns, for the first tokens, the number of rows not held that have each, and the number of rows
// that have any token.
func (r *Rest) ofRecords(tokens int) (df []uint32, any int) {
	if r == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(r.records), r.any
}

// ofColumn returns, for the first tokens, the number of values without a number that have each in a column, and
// the number of such values.
func (r *Rest) ofColumn(f, tokens int) (df []uint32, values int) {
	if r == nil {
		return make([]uint32, tokens), 0
	}
	return slices.Clone(r.columns[f]), r.values[f]
}

// restCounter counts tokens and values of rows that are not held, on one goroutine.
type restCounter struct {
	records        counter
	columns, rows  []counter // of each column: tokens of values without a number; values
	values, filled []int
	any            int
	met            metTokens
	tokens         []uint32
}

func NewRestCounter(v *Rest, n *record.Numbering) *restCounter {
	c := &restCounter{records: NewCounter(v.records), values: make([]int, len(v.values)), filled: make([]int, len(v.Filled))}
	for f, of := range v.columns {
		c.columns = append(c.columns, NewCounter(of))
		c.rows = append(c.rows, NewCounter(n.Column(f).Counts()))
	}
	return c
}

func (c *restCounter) Add(look *record.Lookup, values [][]byte) {
	c.tokens = c.tokens[:0]
	any := false
	for f := range c.columns {
		found := look.Find(f, values[f])
		if found.Missing {
			continue
		}
		any = true
		c.filled[f]++
		c.tokens = append(c.tokens, found.Tokens...)
		if found.Value > 0 {
			c.rows[f].Add(found.Value - 1)
			continue
		}
		c.values[f]++
		for _, token := range found.Tokens {
			c.columns[f].Add(token)
		}
	}
	if any {
		c.any++
	}
	c.met.next()
	for _, token := range c.tokens {
		if c.met.add(token) {
			c.records.Add(token)
		}
	}
}

// End adds the counts to the others.
func (c *restCounter) End(v *Rest) {
	c.records.End()
	for f := range c.columns {
		c.columns[f].End()
		c.rows[f].End()
		v.values[f] += c.values[f]
		v.Filled[f] += c.filled[f]
	}
	v.any += c.any
}

// A counter adds to counts that several goroutines share. Each goroutine counts the tokens with the lowest numbers by
// itself, since most records have these.
type counter struct{ own, shared []uint32 }

// ownCounts is the number of tokens that each goroutine counts by itself.
const ownCounts = 1 << 16

func NewCounter(shared []uint32) counter {
	return counter{make([]uint32, min(ownCounts, len(shared))), shared}
}

func (c *counter) Add(i uint32) {
	if int(i) < len(c.own) {
		c.own[i]++
	} else {
		atomic.AddUint32(&c.shared[i], 1)
	}
}

// End adds the goroutine's own counts to the shared ones.
func (c *counter) End() {
	for i, n := range c.own {
		if n > 0 {
			atomic.AddUint32(&c.shared[i], n)
		}
	}
}
