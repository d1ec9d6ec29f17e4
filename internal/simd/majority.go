package simd

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

// The kernel of SimHash: which bits are set in most elements.
//
// An element with hash h stands for the words Mix(h + (w+1)·γ), w = 0, 1, …: the
// output of SplitMix64 seeded with h. Bit b of word w of the result is one if
// it is one in more than half of the elements, or in half of them and in tie.
//
//	for every word w (AVX-512: eight at once, AVX2: four, a lane each; remaining words
//	                  one at a time, with several elements at once, a lane each):
//	    for every 16 elements:
//	        x = Mix(h + (w+1)·γ)                      of each
//	        add the 16 to planes 0 … 3 by full adders; their carry is one number
//	        for plane 4: it waits there for a second carry, both are added by one full
//	        adder, which carries to plane 5, and so on
//	    result = planes > ⌊n/2⌋                       one majority gate a plane
//
// Plane i holds bit i of the 64 counts of a word, so a full adder adds to 64 counts
// (AVX-512: 512) at once, and counts stay in planes throughout. An element's
// word costs 0.11 ns with AVX-512, 0.6 with AVX2, 1.3 in Go; byte counters in
// words, as in hash4j, take 3 in Java on the same machine.
//
//  1. A full adder is two instructions in AVX-512 (VPTERNLOGQ; the carry is made from
//     the sum, so that nothing is copied), five elsewhere. 16 elements take 15 of
//     them and one for the planes above: two instructions an element, compared with
//     nine that generate the word.
//  2. Elements that do not fill a block of 16 come first, while the planes are empty
//     and cannot overflow.
//  3. The comparison is the borrow of ⌊n/2⌋ − count: maj(¬bit, plane, borrow) a plane,
//     and tie is the initial borrow.
//  4. Lanes that stand for elements are added by halves, quarters and neighbours, in
//     registers for up to 16 elements a lane: 64 bits of 100 elements take 27 ns,
//     through memory 38.

// MajorityLevels is the number of planes, and the logarithm of the largest number of
// elements.
const MajorityLevels = 40

// MajorityScratch is scratch memory for Majority. It need not be cleared.
type MajorityScratch struct {
	planes  [MajorityLevels][8]uint64
	waiting [MajorityLevels][8]uint64
	spare   [8]uint64
}

// gamma is the step of SplitMix64.
const gamma = 0x9e3779b97f4a7c15

// Majority writes to word w of dst the bits that are set in the word w of most elements. On a tie,
// which an even number of elements can have, the bit is that of tie. Without elements all bits are
// ties. O(len(dst)·len(hashes)).
func Majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	if len(hashes)%2 == 1 {
		tie = 0
	}
	majority(dst, hashes, tie, scratch)
}

// majorityGeneric is the pure Go twin of the assembly; its blocks have 8 elements, since a general
// register file has no room for more planes.
func majorityGeneric(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	for w := range dst {
		dst[w] = majorityWord(hashes, uint64(w+1)*gamma, tie, scratch)
	}
}

// majorityWord returns the majority of the words Mix(h + offset).
func majorityWord(hashes []uint64, offset, tie uint64, scratch *MajorityScratch) uint64 {
	levels := bits.Len(uint(len(hashes)))
	for l := 3; l < levels; l++ {
		scratch.planes[l][0] = 0
	}
	var ones, twos, fours uint64
	loose := len(hashes) % 8
	for _, h := range hashes[:loose] {
		x := hashing.Mix(h + offset)
		ones, x = ones^x, ones&x
		twos, x = twos^x, twos&x
		fours ^= x
	}
	for rest, block := hashes[loose:], uint(0); len(rest) >= 8; rest, block = rest[8:], block+1 {
		var a, b, c uint64
		ones, a = fullAdd(ones, hashing.Mix(rest[0]+offset), hashing.Mix(rest[1]+offset))
		ones, b = fullAdd(ones, hashing.Mix(rest[2]+offset), hashing.Mix(rest[3]+offset))
		twos, c = fullAdd(twos, a, b)
		ones, a = fullAdd(ones, hashing.Mix(rest[4]+offset), hashing.Mix(rest[5]+offset))
		ones, b = fullAdd(ones, hashing.Mix(rest[6]+offset), hashing.Mix(rest[7]+offset))
		twos, a = fullAdd(twos, a, b)
		fours, c = fullAdd(fours, c, a)
		l := 3
		for ; block>>(l-3)&1 == 1; l++ {
			scratch.planes[l][0], c = fullAdd(scratch.planes[l][0], scratch.waiting[l][0], c)
		}
		scratch.waiting[l][0] = c
	}
	return majorityOf(ones, twos, fours, uint(len(hashes)), tie, scratch)
}

// fullAdd adds three bits in each of 64 places.
func fullAdd(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// majorityOf adds the carries that still wait for their planes and compares the counts of n
// elements with half of n.
func majorityOf(ones, twos, fours uint64, n uint, tie uint64, scratch *MajorityScratch) uint64 {
	half := n / 2
	borrow := above(ones, tie, half)
	borrow = above(twos, borrow, half>>1)
	borrow = above(fours, borrow, half>>2)
	blocks, carry := n/8, uint64(0)
	for l := 3; n>>l != 0; l++ {
		w := scratch.waiting[l][0] & -uint64(blocks>>(l-3)&1)
		var p uint64
		p, carry = fullAdd(scratch.planes[l][0], w, carry)
		borrow = above(p, borrow, half>>l)
	}
	return borrow
}

// above is one place of the comparison: the borrow out of the lowest bit of half minus plane.
func above(plane, borrow uint64, half uint) uint64 {
	bit := -uint64(half & 1)
	return plane&borrow | (plane|borrow)&^bit
}
