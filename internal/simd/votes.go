package simd

import "math/bits"

// Votes counts, for each bit, in how many rows it is set. A row is a hash of several words. Where a
// generator makes the words from a hash, Majority generates and counts at once.
//
//	for every word of a row:
//	    for every 8 rows:
//	        add the 8 to planes 0 … 2 by full adders; their carry is one number
//	        for plane 3, and ripples on from there
//
// Plane i holds bit i of the 64 counts of a word. Eight rows take seven full adders of
// five instructions, and a ripple of two planes on average: about 5 instructions a
// row and word, where 64 counters would take over 100.
type Votes struct {
	width  int // words a row
	rows   uint64
	planes []uint64 // by word, voteLevels each
}

// voteLevels bounds the number of rows: 2^voteLevels − 1.
const voteLevels = 40

// VoteBatch is the number of rows that Votes.Add takes at once.
const VoteBatch = 8

// NewVotes returns votes of rows of width words.
func NewVotes(width int) Votes { return Votes{width: width, planes: make([]uint64, width*voteLevels)} }

// Reset forgets all rows.
func (v *Votes) Reset() {
	clear(v.planes)
	v.rows = 0
}

// Add counts rows, stored one after the other; their number is a multiple of VoteBatch.
func (v *Votes) Add(rows []uint64) {
	n := len(rows) / v.width
	if n == 0 {
		return
	}
	for w := range v.width {
		p := (*[voteLevels]uint64)(v.planes[w*voteLevels:])
		ones, twos, fours := p[0], p[1], p[2]
		column, step := rows[w:], v.width
		for range n / VoteBatch {
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
			column = column[min(VoteBatch*step, len(column)):]
		}
		p[0], p[1], p[2] = ones, twos, fours
	}
	v.rows += uint64(n)
}

// Majority returns the bits of word w that are set in more than half of n rows. Besides these, rows
// of zeros may have been added.
func (v *Votes) Majority(w int, n uint64) uint64 {
	half := n / 2
	var borrow uint64
	for i, plane := range v.planes[w*voteLevels : w*voteLevels+bits.Len64(v.rows)] {
		borrow = above(plane, borrow, uint(half>>i))
	}
	return borrow
}
