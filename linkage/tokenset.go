package linkage

import "math/bits"

// A tokenSet is some tokens, with what is known of them: a table of open addressing, half
// full at most. That of a record of a hundred tokens takes 4 KiB.
type tokenSet struct {
	slots []slot // a power of two
	shift uint   // what is left of the hash of a token after it is the token's place
}

// slot is what is known of a token of the left record of a matcher.
type slot struct {
	name    uint32 // 1 + the token; 0: the slot is free
	round   uint32 // in which the token was last met
	columns uint32 // that have it: bit f, of the first markedColumns
	weight  uint32
}

// reset empties the set, and makes room for n tokens. O(n).
func (s *tokenSet) reset(n int) {
	size := 1 << max(4, bits.Len(uint(2*n)))
	if size > cap(s.slots) {
		s.slots = make([]slot, size)
	} else {
		s.slots = s.slots[:size]
		clear(s.slots)
	}
	s.shift = uint(32 - bits.Len(uint(size-1)))
}

// slot returns that of a token, or the free one that it would take.
func (s *tokenSet) slot(token uint32) *slot {
	mask := uint32(len(s.slots) - 1)
	i := token * 0x9e3779b1 >> s.shift // multiplicative hashing by the golden ratio (Knuth)
	for s.slots[i].name != 0 && s.slots[i].name != token+1 {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}
