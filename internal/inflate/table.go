package inflate

import (
	"math/bits"
	"sync"
)

// codes are the two codes of a block, with tables of what the next bits mean.
type codes struct {
	literal, distance code
	// literals has for the next literalBits bits up to three literals, or up to two and a length behind them, as far as
	// their codes fit. 0: the first code is longer, or ends the block, or has no meaning.
	literals [1 << literalBits]uint64
	// runs is the bit of an entry without length if most entries have none, as in base64; else 0.
	runs uint64
	// distances has for the next distanceBits bits a distance, or 0 as above; and above these, for where there is no
	// length, entries that take no bits.
	distances [2 << distanceBits]uint64
}

// One bit more makes either table larger than what it saves: they share the fastest cache with the history.
const (
	literalBits  = 11
	distanceBits = 8
)

// An entry of literals is
//
//	literals 32 │ 0 3 │ no length 1 │ literals' number 3 │ base of the length 9 │ mask of its extra bits 5 │ bits of the codes 5 │ of all 6
//
// and one of distances
//
//	mask of the extra bits 32 │ base of the distance 16 │ 0 5 │ bits of the code 5 │ of all 6
const (
	codeAt     = 6
	maskAt     = 11
	baseAt     = 16
	numberAt   = 25
	noLengthAt = 28
	bytesAt    = 32

	allMask      = 1<<6 - 1
	codeMask     = 1<<5 - 1
	extraMask    = 1<<5 - 1
	lengthMask   = 1<<9 - 1
	numberMask   = 1<<3 - 1
	distanceMask = 1<<16 - 1
)

// noDistance is the entry of a distance that is not there. The fast loop copies zero bytes from so far back: not from
// where it has just written, which processors are slow to read.
const noDistance = 32 << baseAt

// literalEntries and distanceEntries are the entries of symbols, without the lengths of their codes; 0 for a symbol
// that is no literal, length or distance.
var literalEntries, distanceEntries = func() (literals [288]uint64, distances [32]uint64) {
	for s := range endOfBlock {
		literals[s] = uint64(s)<<bytesAt | 1<<noLengthAt | 1<<numberAt
	}
	base := uint64(3)
	for s := endOfBlock + 1; s < 285; s++ {
		extra := max((s-257)/4-1, 0)
		literals[s] = base<<baseAt | (1<<extra-1)<<maskAt | uint64(extra)
		base += 1 << extra
	}
	literals[285] = 258 << baseAt
	base = 1
	for s := range maxDistances {
		extra := max(s/2-1, 0)
		distances[s] = (1<<extra-1)<<bytesAt | base<<baseAt | uint64(extra)
		base += 1 << extra
	}
	return literals, distances
}()

// withCode adds the length of a code to the entry of its symbol.
func withCode(entry uint64, length uint) uint64 {
	if entry == 0 {
		return 0
	}
	return entry + uint64(length)<<codeAt + uint64(length)
}

// build makes codes and tables; false if the lengths are those of no codes.
func (c *codes) build(literals, distances []uint8) bool {
	if !c.literal.build(literals) || !c.distance.build(distances) {
		return false
	}
	c.literal.tabulate(c.literals[:], literalEntries[:], literalBits)
	c.combine()
	known, none := c.distances[:1<<distanceBits], c.distances[1<<distanceBits:]
	c.distance.tabulate(known, distanceEntries[:], distanceBits)
	for i := range none {
		none[i] = noDistance
	}
	return true
}

// tabulate fills a table for the next width bits with the entries of symbols.
func (c *code) tabulate(table, entries []uint64, width uint) {
	clear(table)
	at := int32(0)
	for n := uint(1); n <= min(width, c.longest); n++ {
		for end := c.first[n] + int32(c.limit[n]>>(16-n)); at < end; at++ {
			entry := withCode(entries[c.symbols[at]], n)
			b := bits.Reverse16(uint16(at-c.first[n])) >> (16 - n)
			for i := uint(b); i < 1<<width; i += 1 << n {
				table[i] = entry
			}
		}
	}
}

// combine adds to the entries of literals the symbols behind them, as far as their codes are within the bits. What is
// behind a code is found at a lower place of the table, which still has one symbol while the highest places come first.
func (c *codes) combine() {
	t := &c.literals
	alone := 0
	for i := len(t) - 1; i >= 0; i-- {
		entry := t[i]
		for number := 1; number < 3 && entry>>noLengthAt&1 != 0; number++ {
			have := uint(entry & allMask)
			next := t[i>>have]
			if next == 0 || have+uint(next>>codeAt&codeMask) > literalBits {
				break
			}
			bytes := next >> bytesAt << bytesAt
			entry += next - bytes + bytes<<(8*number) - 1<<noLengthAt
		}
		t[i] = entry
		alone += int(entry >> noLengthAt & 1)
	}
	c.runs = 0
	if 4*alone > 3*len(t) {
		c.runs = 1 << noLengthAt
	}
}

// fixed returns the codes of blocks without codes of their own.
var fixed = sync.OnceValue(func() *codes {
	var literals [288]uint8
	for s := range literals {
		switch {
		case s < 144:
			literals[s] = 8
		case s < 256:
			literals[s] = 9
		case s < 280:
			literals[s] = 7
		default:
			literals[s] = 8
		}
	}
	var distances [32]uint8
	for s := range distances {
		distances[s] = 5
	}
	c := new(codes)
	c.build(literals[:], distances[:])
	return c
})
