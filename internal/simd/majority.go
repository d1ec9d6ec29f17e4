package simd

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
