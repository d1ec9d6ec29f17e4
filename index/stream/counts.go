package stream

import (
	"errors"
	"iter"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus"
)

// ErrTime says that Config.TimeField of a record has no time: see ParseTime.
var ErrTime = errors.New("no time")

// skipReasons are the kinds of records that are skipped, each with a short name for a metric; the last one is for all
// others.
var skipReasons = [...]struct {
	name string
	err  error
}{
	{"malformed", corpus.ErrMalformed}, {"missing_field", corpus.ErrMissingField}, {"not_a_string", corpus.ErrNotString},
	{"too_long", corpus.ErrTooLong}, {"field_count", corpus.ErrFieldCount}, {"time", ErrTime}, {"truncated", corpus.ErrTruncated},
	{"corrupt", corpus.ErrCorrupt}, {"bomb", corpus.ErrBomb}, {"other", nil},
}

// Counts are what a stream has counted so far, of what its index does not count. Any goroutine may read them while Run
// writes them. The zero value is ready.
type Counts struct {
	skipped  [len(skipReasons)]atomic.Int64
	replayed atomic.Int64
}

// Replayed returns how many records were certainly read by an earlier process: it never falls.
func (c *Counts) Replayed() int64 { return c.replayed.Load() }

// Skipped returns, for every reason, how many records were skipped for it.
func (c *Counts) Skipped() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for i := range skipReasons {
			if !yield(skipReasons[i].name, c.skipped[i].Load()) {
				return
			}
		}
	}
}

// skip counts a record that is skipped; nil counts nothing.
func (c *Counts) skip(why error) {
	if c == nil {
		return
	}
	last := len(skipReasons) - 1
	for i, r := range skipReasons[:last] {
		if errors.Is(why, r.err) {
			c.skipped[i].Add(1)
			return
		}
	}
	c.skipped[last].Add(1)
}

// replay sets the number of replayed records.
func (c *Counts) replay(n int64) {
	if c != nil {
		c.replayed.Store(n)
	}
}
