package shingle

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// A counter numbers the occurrences of hashes, of tokens or features: a hash table with linear probing,
// at most half full. Each slot holds the round (the document) in which it was filled, so clearing costs
// nothing.
type counter struct {
	slots []slot
	shift uint // 64 − log₂ len(slots)
	used  int
	round uint32
}

type slot struct {
	token uint64
	round uint32
	count uint32
}

const firstSlots = 1 << 10

func newCounter() *counter {
	c := new(counter)
	c.resize(firstSlots)
	return c
}

// reset forgets all hashes.
func (c *counter) reset() {
	c.used = 0
	if c.round++; c.round == 0 { // after 2³² documents old rounds would be valid again
		clear(c.slots)
		c.round = 1
	}
}

// number replaces every hash that occurs for the j-th time since reset, j > 1, by a hash that also
// depends on j.
func (c *counter) number(tokens []uint64) {
	for i, t := range tokens {
		if 2*c.used >= len(c.slots) {
			c.resize(2 * len(c.slots))
		}
		s := c.find(t)
		if s.round != c.round {
			*s = slot{token: t, round: c.round}
			c.used++
		}
		if s.count++; s.count > 1 {
			tokens[i] = hashing.Fold(t^hashing.Key3, hashing.Key2^uint64(s.count))
		}
	}
}

// find returns the slot of a token, or a free slot for it. Multiplying spreads tokens whose top bits are
// equal.
func (c *counter) find(token uint64) *slot {
	mask := len(c.slots) - 1
	for i := int(token * hashing.Key0 >> c.shift); ; i++ {
		s := &c.slots[i&mask]
		if s.round != c.round || s.token == token {
			return s
		}
	}
}

// resize moves the tokens of this round to a table of size slots, a power of two.
func (c *counter) resize(size int) {
	old := c.slots
	c.slots = make([]slot, size)
	c.shift = uint(bits.LeadingZeros64(uint64(size))) + 1
	for _, s := range old {
		if s.round == c.round {
			*c.find(s.token) = s
		}
	}
}
