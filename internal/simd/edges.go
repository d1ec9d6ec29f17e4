package simd

import "math/bits"

// EdgeBytes is how many bytes WordEdges processes at most.
const EdgeBytes = 64 * wordBlocks

// WordEdges finds the words, runs of [0-9A-Za-z], of a stretch of ASCII at the beginning of src:
// word i is src[edges[2*i]:edges[2*i+1]]. It returns their number and how many bytes are done.
//
// A stretch is EdgeBytes long, or as many times 64 bytes as src has, or all of src if that is less
// than 64 bytes. A word that is still open at the end of whole blocks is left out, and used is its
// start; so used is 0 if one word fills them all. If ascii is false, a byte above 0x7f ended the
// stretch, and used is the start of the word that touches it, or its index. The rest of edges
// behind the words is overwritten. O(EdgeBytes).
func WordEdges(edges *[EdgeBytes]uint16, src []byte) (words, used int, ascii bool) {
	return wordEdges(bestWords, edges, src)
}

// wordEdges is WordEdges by the given variant.
func wordEdges(v wordVariant, edges *[EdgeBytes]uint16, src []byte) (words, used int, ascii bool) {
	if len(src) >= wordBlock {
		return edgesOf(v, edges, src, min(len(src)/wordBlock, wordBlocks))
	}
	if len(src) == 0 {
		return 0, 0, true
	}
	var padded [wordBlock]byte
	copy(padded[:], src)
	words, used, ascii = edgesOf(v, edges, padded[:], 1)
	return words, min(used, len(src)), ascii
}

// edgesOfBlocks is the pure Go twin of the kernels.
func edgesOfBlocks(edges *[EdgeBytes]uint16, src []byte, blocks int) (words, used int, ascii bool) {
	var carry uint64 // 1 if a word is open
	n, ascii := 0, true
	for at := 0; at < blocks*wordBlock; at += wordBlock {
		m, high := classify((*[wordBlock]byte)(src[at:]))
		t := m ^ (m<<1 | carry)
		used = at + wordBlock
		if high != 0 {
			// Ignore everything from the first byte above 0x7f on.
			t &= high&-high - 1
			used = at + bits.TrailingZeros64(high)
			ascii = false
		}
		for ; t != 0; t &= t - 1 {
			edges[n&(EdgeBytes-1)] = uint16(at + bits.TrailingZeros64(t))
			n++
		}
		if !ascii {
			break
		}
		carry = m >> 63
	}
	if n%2 == 1 {
		used = int(edges[n-1])
	}
	return n / 2, used, ascii
}
