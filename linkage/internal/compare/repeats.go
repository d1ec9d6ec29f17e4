package compare

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/record"
)

// metTokens is a set of the tokens of a record: a table with open addressing, at most half full. A slot has the
// number of the record in its upper half and the token in its lower half, so that the next record finds all slots
// free without clearing them.
type metTokens struct {
	slots  []uint64
	record uint32
	count  int  // tokens of the record
	shift  uint // the slot of a token is its hash >> shift
}

// next begins the next record.
func (s *metTokens) next() {
	s.count = 0
	if s.record++; s.record == 0 {
		clear(s.slots)
		s.record = 1
	}
}

// add adds a token, and tells whether it is new.
func (s *metTokens) add(token uint32) bool {
	if 2*s.count >= len(s.slots) {
		s.grow()
	}
	mine := uint64(s.record)<<32 | uint64(token)
	mask := uint32(len(s.slots) - 1)
	for i := hashOf(token) >> s.shift; ; i = (i + 1) & mask {
		switch at := s.slots[i]; {
		case at == mine:
			return false
		case uint32(at>>32) != s.record:
			s.slots[i] = mine
			s.count++
			return true
		}
	}
}

func (s *metTokens) grow() {
	before := s.slots
	s.slots, s.count = make([]uint64, max(1<<8, 2*len(before))), 0
	s.shift = uint(32 - bits.Len(uint(len(s.slots)-1)))
	for _, at := range before {
		if uint32(at>>32) == s.record {
			s.add(uint32(at))
		}
	}
}

// repeats are the tokens that records of a table have in several columns, by ranges of rangeRows rows. A range is
// held only if there is room for it.
type repeats struct {
	ranges []*repeatsOfRows // nil: there was no room
	room   atomic.Int64     // numbers that may still be held
}

// repeatsOfRows are the repeats of consecutive rows. A token that n columns of a row have is there n−1 times.
type repeatsOfRows struct {
	ends   []uint32 // end of each row in tokens
	tokens []uint32
}

// rangeRows is the number of rows of a range.
const rangeRows = 1 << 12

// newRepeats returns empty repeats of a table. room is the number of numbers that may be held.
func newRepeats(rows int, room int64) *repeats {
	r := &repeats{ranges: make([]*repeatsOfRows, (rows+rangeRows-1)/rangeRows)}
	r.room.Store(room)
	return r
}

// hold holds a copy of the repeats of a range if there is room. It may be called for several ranges at once.
func (r *repeats) hold(from int, of *repeatsOfRows) {
	if r.room.Add(-int64(len(of.ends)+len(of.tokens))) >= 0 {
		r.ranges[from/rangeRows] = &repeatsOfRows{slices.Clone(of.ends), slices.Clone(of.tokens)}
	}
}

// A repeatFinder finds the tokens that records have in several columns, on one goroutine.
type repeatFinder struct {
	numbering *record.Numbering
	near      nearer
	met       metTokens
	found     repeatsOfRows // scratch
}

func newRepeatFinder(n *record.Numbering) *repeatFinder {
	return &repeatFinder{numbering: n, near: nearer{of: n}}
}

// find returns the repeats of a range of rows, which are valid until the next call. It calls visit once for each
// distinct token of each row.
func (r *repeatFinder) find(t *record.Table, from, to int, visit func(row int, token uint32)) *repeatsOfRows {
	r.found.ends, r.found.tokens = r.found.ends[:0], r.found.tokens[:0]
	for row := from; row < to; row++ {
		r.near.atRow(t, row, from, to)
		r.met.next()
		for f, cell := range t.Cells(row) {
			if cell == 0 {
				continue
			}
			for _, token := range r.numbering.Column(f).Tokens(cell - 1) {
				if r.met.add(token) {
					visit(row, token)
				} else {
					r.found.tokens = append(r.found.tokens, token)
				}
			}
		}
		r.found.ends = append(r.found.ends, uint32(len(r.found.tokens)))
	}
	return &r.found
}
