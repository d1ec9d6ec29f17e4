package linkage

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/record"
)

// metTokens tells which tokens of a record were met before. Open addressing, half full at most; a slot holds
// the number of the record above the token, so that the next record finds all slots free.
type metTokens struct {
	slots  []uint64
	record uint32
	count  int  // tokens of the record
	shift  uint // what is left of the hash of a token after it is the token's place
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
	for i := hash(token) >> s.shift; ; i = (i + 1) & mask {
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

// repeats are the tokens that records of a table have in several columns, as far as there is room for them: by
// range of rangeRows rows.
type repeats struct {
	ranges []*repeatsOfRows // nil: there was no room
	room   atomic.Int64     // for so many more numbers
}

// repeatsOfRows are the repeats of some rows, one row after the other: a token that n columns of a row have is
// there n−1 times.
type repeatsOfRows struct {
	ends   []uint32 // of each row
	tokens []uint32
}

// rangeRows is how many rows a range has.
const rangeRows = 1 << 12

// newRepeats returns room for the repeats of a table, at most so many numbers.
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

// find returns the repeats of a range of rows, which hold until the next call, and calls visit once for each
// token of each row.
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
