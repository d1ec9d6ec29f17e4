package simd

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/hashing"
)

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
