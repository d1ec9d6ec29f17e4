package compare

import (
	"math/bits"
	"slices"
)

// A tokenSet is a set of tokens with data about each: a table with open addressing, at most half full, and a bitmap
// of 16 bits a slot, which shows that most other tokens are not in the set. For a record of a hundred tokens they
// take 4 KiB and 512 bytes.
type tokenSet struct {
	slots []slot   // a power of two
	maybe []uint64 // bit of the hash of each token
	shift uint     // what is left of the hash of a token after it is the token's place
}

// slot has the data about a token of the left record of a matcher.
type slot struct {
	name    uint32 // 1 + the token; 0: the slot is free
	round   uint32 // in which the token was last met
	columns uint32 // that have it: bit f, of the first markedColumns
	weight  uint16 // in the record as a whole
	own     uint16 // in the column, of tokens that one column alone has; 0: not looked up yet
}

// bitsOfSlot is the binary logarithm of the bits of the bitmap for each slot.
const bitsOfSlot = 4

// reset empties the set, and makes room for n tokens. O(n).
func (s *tokenSet) reset(n int) {
	size := 1 << max(4, bits.Len(uint(2*n)))
	s.slots = slices.Grow(s.slots[:0], size)[:size]
	clear(s.slots)
	s.maybe = slices.Grow(s.maybe[:0], size<<bitsOfSlot/64)[:size<<bitsOfSlot/64]
	clear(s.maybe)
	s.shift = uint(32 - bits.Len(uint(size-1)))
}

// hashOf is multiplicative, by the golden ratio (Knuth): its upper bits count.
func hashOf(token uint32) uint32 { return token * 0x9e3779b1 }

// slot returns the slot of a token, or the free one that it would take.
func (s *tokenSet) slot(token uint32) *slot {
	mask := uint32(len(s.slots) - 1)
	i := hashOf(token) >> s.shift
	for s.slots[i].name != 0 && s.slots[i].name != token+1 {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}

// note sets the bit of a token in the bitmap.
func (s *tokenSet) note(token uint32) {
	h := hashOf(token) >> (s.shift - bitsOfSlot)
	s.maybe[h/64] |= 1 << (h % 64)
}

// pass returns the indexes of the tokens that may be in the set, by the bitmap. dst is scratch.
func (s *tokenSet) pass(dst []uint32, tokens []uint32) []uint32 {
	if cap(dst) < len(tokens) {
		dst = make([]uint32, 2*len(tokens))
	}
	dst = dst[:len(tokens)]
	n, shift := 0, s.shift-bitsOfSlot
	for i, token := range tokens {
		h := hashOf(token) >> (shift & 31)
		dst[n] = uint32(i)
		n += int(s.maybe[h/64] >> (h % 64) & 1)
	}
	return dst[:n]
}
