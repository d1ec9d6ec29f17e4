package inflate

import "math/bits"

const (
	maxBits      = 15
	maxLiterals  = 286 // of a block with codes of its own
	maxDistances = 30
	endOfBlock   = 256
)

// code is a canonical prefix code (RFC 1951, section 3.2.2): codes of one length are consecutive numbers, in the order
// of their symbols, and follow those of the lengths before. Read from the highest bit on, and filled with zeros to 16
// bits, all codes of up to n bits are therefore below limit[n].
type code struct {
	limit   [maxBits + 1]uint32
	first   [maxBits + 1]int32 // of the symbols with codes of n bits in symbols, less the first of these codes
	symbols [288]uint16        // by code
	longest uint
}

// build makes the code of symbols with codes of these lengths, 0 for none. It is false if the lengths are those of no
// complete code; one code of one bit, and no code at all, may pass (as in compress/flate).
func (c *code) build(lengths []uint8) bool {
	var count [maxBits + 1]int32
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	next, at := uint32(0), int32(0)
	var place [maxBits + 1]int32
	c.longest = 0
	for n := uint(1); n <= maxBits; n++ {
		next <<= 1
		c.first[n], place[n] = at-int32(next), at
		next += uint32(count[n])
		at += count[n]
		c.limit[n] = next << (16 - n)
		if next > 1<<n {
			return false
		}
		if count[n] > 0 {
			c.longest = n
		}
	}
	for s, n := range lengths {
		if n > 0 {
			c.symbols[place[n]] = uint16(s)
			place[n]++
		}
	}
	return next == 1<<maxBits || c.longest == 0 || c.longest == 1 && count[1] == 1
}

// decode returns the symbol at the start of b and the length of its code; if there is none, -1 and how many bits say
// so.
func (c *code) decode(b uint64) (symbol int, length uint) {
	ordered := uint32(bits.Reverse16(uint16(b)))
	for n := uint(1); n <= c.longest; n++ {
		if ordered < c.limit[n] {
			return int(c.symbols[c.first[n]+int32(ordered>>(16-n))]), n
		}
	}
	return -1, c.longest
}
