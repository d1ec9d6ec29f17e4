package simd

// The kernel of SimHash: which bits are set in most elements.
//
// An element with hash h stands for the words Mix(h + (w+1)·γ), w = 0, 1, …: the
// output of SplitMix64 seeded with h. Bit b of word w of the result is one if
// more than half of the elements have it, and on a tie if bit b of tie is one.
//
//	for every word w (AVX-512: eight at once, AVX2: four, a lane each; of the words that
//	                  are left one at once, a lane for each of so many elements):
//	    for every 16 elements:
//	        x = Mix(h + (w+1)·γ)                      of each
//	        add the 16 to planes 0 … 3 by full adders; what is carried out is one
//	        number for plane 4: it waits there for a second, both go in by one full
//	        adder, which carries to plane 5, and so on
//	    result = planes > ⌊n/2⌋                       one majority gate a plane
//
// Plane i holds bit i of the 64 counts of a word, so a full adder adds to 64 counts
// (AVX-512: 512) at once, and counts never leave the form of planes. An element's
// word costs 0.11 ns with AVX-512, 0.6 with AVX2, 1.3 in Go; byte counters in
// words, as hash4j has them, 3 in Java on the same machine.
//
//  1. A full adder is two instructions in AVX-512 (VPTERNLOGQ; the carry is made from
//     the sum, so that nothing is copied), five elsewhere. 16 elements take 15 of
//     them and one for the planes above: two instructions an element, next to
//     nine that generate the word.
//  2. Elements that do not make a block of 16 come first, while the planes are empty
//     and cannot be carried out of.
//  3. The comparison is the borrow of ⌊n/2⌋ − count: maj(¬bit, plane, borrow) a plane,
//     and tie is the borrow that goes in.
//  4. Lanes that stand for elements are added by halves, quarters and neighbours, in
//     registers for up to 16 elements a lane: 64 bits of 100 elements take 27 ns,
//     through memory 38.

// MajorityLevels is the number of planes, and the logarithm of the largest number of
// elements.
const MajorityLevels = 40

// MajorityScratch is memory for Majority. It need not be cleared.
type MajorityScratch struct {
	planes  [MajorityLevels][8]uint64
	waiting [MajorityLevels][8]uint64
	spare   [8]uint64
}

// gamma is the step of SplitMix64.
const gamma = 0x9e3779b97f4a7c15

// Majority writes to word w of dst the bits that most elements have in their word
// w. Of an even number of elements, half is enough for the bits of tie.
// No element at all counts as such a tie. O(len(dst)·len(hashes)).
func Majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	if len(hashes)%2 == 1 {
		tie = 0
	}
	majority(dst, hashes, tie, scratch)
}
