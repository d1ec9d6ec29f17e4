// Package countmin counts how often items occur in a stream, approximately, in a memory
// that does not grow with the number of distinct items: the count-min sketch of G. Cormode
// and S. Muthukrishnan, "An improved data stream summary: the count-min sketch and its
// applications" (Journal of Algorithms 55, 2005).
//
// Use it for document frequencies when a table of all tokens does not fit in memory. If it
// fits, a map is exact, and smaller below a few hundred thousand items. An estimate is
// never below the true count, and seldom far above it: see Options.
//
// A sketch has depth rows of width counters. A hash chooses one counter of each row for an
// item, and the item adds to all of them. Other items add to some of them too, so the least
// of an item's counters is its estimate.
//
// # Conservative update
//
// With Options.Conservative an item raises only those of its counters that are below its
// new estimate (C. Estan, G. Varghese, "New directions in traffic measurement and
// accounting", SIGCOMM 2002). Every counter is at most what it would be without this, so
// all bounds hold, and the error is a third smaller on skewed streams. The counters then
// depend on the order of the stream.
//
// # Merging
//
// Plain sketches of parts merge to exactly the sketch of the whole, whatever the parts are:
// counts are the same for any number of threads. Merged conservative sketches never
// underestimate either, and the bound holds for the sum of the totals. But their counters
// depend on how the stream was cut, and their error is larger than that of the conservative
// sketch of the whole. If results must not depend on threads, cut the stream in a fixed way
// or use plain sketches.
package countmin

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// Options say how large a sketch is. The zero value means the defaults.
type Options struct {
	// Epsilon and Delta bound the error: an estimate exceeds the true count by more than
	// Epsilon times the sum of all counts with a probability of at most Delta, for each item.
	// Both are above 0 and below 1; 0 means DefaultEpsilon and DefaultDelta.
	//
	// There are ⌈e/Epsilon⌉ counters in each of ⌈ln(1/Delta)⌉ rows. In one row the counts of
	// other items that fall on an item's counter are Epsilon/e of the sum on average, so they
	// exceed Epsilon of it with a probability of at most 1/e (Markov). The rows' hashes are
	// independent, so all rows exceed it with a probability of at most e^−rows.
	Epsilon, Delta float64
	// Conservative says how items are added: see the package comment.
	Conservative bool
	// Seed chooses the hashes. Only sketches of the same seed can be merged.
	Seed uint64
}

// Defaults of Options: 5 rows of 271 829 counters, 5.4 MB.
const (
	DefaultEpsilon = 1e-5
	DefaultDelta   = 0.01
)

const (
	mostWidth = 1 << 32
	mostDepth = 64
)

// Validate reports what is wrong with the options.
func (o Options) Validate() error {
	_, _, err := o.size()
	return err
}

func (o Options) size() (width, depth int, err error) {
	epsilon, delta := o.Epsilon, o.Delta
	if epsilon == 0 {
		epsilon = DefaultEpsilon
	}
	if delta == 0 {
		delta = DefaultDelta
	}
	if !(epsilon > 0 && epsilon < 1) || math.E/epsilon > mostWidth { // also refuses NaN
		return 0, 0, fmt.Errorf("countmin: epsilon %v: want a number above %.1e and below 1", o.Epsilon, math.E/mostWidth)
	}
	if !(delta > 0 && delta < 1) || -math.Log(delta) > mostDepth {
		return 0, 0, fmt.Errorf("countmin: delta %v: want a number above %.1e and below 1", o.Delta, math.Exp(-mostDepth))
	}
	return int(math.Ceil(math.E / epsilon)), int(math.Ceil(-math.Log(delta))), nil
}

// Sketch is a count-min sketch: 4 bytes a counter. Either one goroutine adds to it, or any
// number of goroutines estimate.
type Sketch struct {
	width        int
	seed         uint64
	conservative bool
	total        uint64
	rows         []row
	counters     []uint32 // row by row
	places       []int    // of an item's counters, scratch of Add
}

// row is a hash function: it maps x to the top half of a·x + b, modulo 2¹²⁸. For random a
// and b it is pairwise independent (M. Dietzfelbinger, "Universal hashing and k-wise
// independent random variables via integer arithmetic without primes", STACS 1996), which
// the bound needs.
type row struct{ aHigh, aLow, bHigh, bLow uint64 }

// New returns an empty sketch.
func New(o Options) (*Sketch, error) {
	width, depth, err := o.size()
	if err != nil {
		return nil, err
	}
	s := &Sketch{width: width, seed: o.Seed, conservative: o.Conservative, counters: make([]uint32, width*depth)}
	s.makeRows(depth)
	return s, nil
}

func (s *Sketch) makeRows(depth int) {
	s.rows, s.places = make([]row, depth), make([]int, depth)
	word := func(i int) uint64 { return hashing.Mix(s.seed ^ hashing.Mix(uint64(i)+hashing.Key1)) }
	for i := range s.rows {
		s.rows[i] = row{word(4 * i), word(4*i + 1), word(4*i + 2), word(4*i + 3)}
	}
}

// Width returns the number of counters of a row.
func (s *Sketch) Width() int { return s.width }

// Depth returns the number of rows.
func (s *Sketch) Depth() int { return len(s.rows) }

// Total returns the sum of all counts that were added.
func (s *Sketch) Total() uint64 { return s.total }

// Bound returns e/Width of the total: an estimate exceeds the true count by more than this
// with a probability of at most e^−Depth.
func (s *Sketch) Bound() uint64 {
	return uint64(math.Ceil(math.E / float64(s.width) * float64(s.total)))
}

// place returns the place of an item's counter in row i.
func (s *Sketch) place(i int, item uint64) int {
	r := &s.rows[i]
	high, low := bits.Mul64(r.aLow, item)
	_, carry := bits.Add64(low, r.bLow, 0)
	column, _ := bits.Mul64(high+r.aHigh*item+r.bHigh+carry, uint64(s.width))
	return i*s.width + int(column)
}

// Add adds a count to an item. Counters stop at 2³²−1. O(depth) cache misses; it does not
// allocate.
func (s *Sketch) Add(item uint64, count uint32) {
	s.total += uint64(count)
	if !s.conservative {
		for i := range s.rows {
			c := &s.counters[s.place(i, item)]
			*c = plus(*c, count)
		}
		return
	}
	least := uint32(math.MaxUint32)
	for i := range s.rows {
		s.places[i] = s.place(i, item)
		least = min(least, s.counters[s.places[i]])
	}
	least = plus(least, count)
	for _, p := range s.places {
		s.counters[p] = max(s.counters[p], least)
	}
}

// plus returns a + b, or the largest number if the sum is larger.
func plus(a, b uint32) uint32 {
	sum, carry := bits.Add32(a, b, 0)
	return sum | -carry
}

// Estimate returns the count of an item, or more: see Options. An item that was never added
// may have a count too.
func (s *Sketch) Estimate(item uint64) uint32 {
	least := uint32(math.MaxUint32)
	for i := range s.rows {
		least = min(least, s.counters[s.place(i, item)])
	}
	return least
}

// ErrMismatch means that sketches differ in size, seed or kind.
var ErrMismatch = errors.New("count-min sketches of other parameters")

// Merge adds the counts of another sketch, which must have the same options: see the
// package comment. O(width·depth).
func (s *Sketch) Merge(other *Sketch) error {
	if s.width != other.width || len(s.rows) != len(other.rows) || s.seed != other.seed || s.conservative != other.conservative {
		return fmt.Errorf("%w: %v and %v: make all with the same options", ErrMismatch, s, other)
	}
	for i, c := range other.counters {
		s.counters[i] = plus(s.counters[i], c)
	}
	s.total += other.total
	return nil
}

// String returns the parameters as one line.
func (s *Sketch) String() string {
	kind := "plain"
	if s.conservative {
		kind = "conservative"
	}
	return fmt.Sprintf("countmin/v1 %s width=%d depth=%d seed=%d", kind, s.width, len(s.rows), s.seed)
}
