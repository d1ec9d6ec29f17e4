package stream

import (
	"iter"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/fault"
)

// Counts are what a stream has counted so far, of what its index does not count. Any goroutine may read them while Run
// writes them. The zero value is ready.
type Counts struct {
	skipped  [fault.Kinds]atomic.Int64
	replayed atomic.Int64
}

// Replayed returns how many records were certainly read by an earlier process: it never falls.
func (c *Counts) Replayed() int64 { return c.replayed.Load() }

// Skipped returns, for every kind of problem (see corpus.Problem.Kind), how many records were skipped for it.
func (c *Counts) Skipped() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for i := range c.skipped {
			if !yield(fault.NumberedName(byte(i)), c.skipped[i].Load()) {
				return
			}
		}
	}
}

// skip counts a record that is skipped; nil counts nothing.
func (c *Counts) skip(why error) {
	if c != nil {
		c.skipped[fault.KindNumber(why)].Add(1)
	}
}

// replay sets the number of replayed records.
func (c *Counts) replay(n int64) {
	if c != nil {
		c.replayed.Store(n)
	}
}
