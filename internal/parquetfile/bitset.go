package parquetfile

import "math/bits"

// bitset says which rows of a row group, or which values of a dictionary, are kept.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

func (b bitset) add(i int) { b[i>>6] |= 1 << (i & 63) }

// count counts the members in [from, to).
func (b bitset) count(from, to int) int {
	if from >= to {
		return 0
	}
	first, last := from>>6, (to-1)>>6
	low, high := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		return bits.OnesCount64(b[first] & low & high)
	}
	n := bits.OnesCount64(b[first]&low) + bits.OnesCount64(b[last]&high)
	for _, w := range b[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return n
}

// last returns the largest member, -1 if there is none.
func (b bitset) last() int {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return i<<6 + 63 - bits.LeadingZeros64(b[i])
		}
	}
	return -1
}
