package exlsh

import "math/bits"

// votes counts, for each bit, in how many rows it is set. A row is a hash, as
// words.
//
//	for every word of a row:
//	    for every 8 rows:
//	        add the 8 to planes 0 … 2 by full adders; what is carried out of them is
//	        one number for plane 3, and ripples on from there
//
// Plane i holds bit i of the 64 counts of a word. Eight rows take seven full adders of
// five instructions, and a ripple of two planes on average: about 5 instructions a
// row and word, where 64 counters would take over 100.
type votes struct {
	width  int // words a row
	rows   uint64
	planes []uint64 // by word, levels each
}

// levels bounds the number of rows: 2^levels − 1.
const levels = 40

// batch is the number of rows that add takes at once.
const batch = 8

func newVotes(width int) votes { return votes{width: width, planes: make([]uint64, width*levels)} }

func (v *votes) reset() {
	clear(v.planes)
	v.rows = 0
}

// add counts the rows, of which there are any number of whole batches.
func (v *votes) add(rows []uint64) {
	n := len(rows) / v.width
	for w := range v.width {
		p := (*[levels]uint64)(v.planes[w*levels:])
		ones, twos, fours := p[0], p[1], p[2]
		column, step := rows[w:], v.width
		for range n / batch {
			var a, b, c uint64
			ones, a = fullAdd(ones, column[0], column[step])
			ones, b = fullAdd(ones, column[2*step], column[3*step])
			twos, c = fullAdd(twos, a, b)
			ones, a = fullAdd(ones, column[4*step], column[5*step])
			ones, b = fullAdd(ones, column[6*step], column[7*step])
			twos, a = fullAdd(twos, a, b)
			fours, c = fullAdd(fours, c, a)
			for i := 3; c != 0; i++ {
				p[i], c = p[i]^c, p[i]&c
			}
			column = column[min(batch*step, len(column)):]
		}
		p[0], p[1], p[2] = ones, twos, fours
	}
	v.rows += uint64(n)
}

// fullAdd adds three bits in each of 64 places.
func fullAdd(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// majority returns the bits of word w that are set in more than half of n rows.
// Rows of zeros may have been added to them.
func (v *votes) majority(w int, n uint64) uint64 {
	half := n / 2
	// The borrow of half − count, from the lowest place up: count > half.
	var borrow uint64
	for i, p := range v.planes[w*levels : w*levels+bits.Len64(v.rows)] {
		bit := -(half >> i & 1)
		borrow = p&borrow | (p|borrow)&^bit
	}
	return borrow
}
