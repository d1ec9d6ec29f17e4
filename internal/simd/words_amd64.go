//go:build !purego

package simd

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd asm && go run ./words -out ../words_amd64.s -stubs ../words_stub_amd64.go -pkg simd"

// The kernels wordHashesAVX512 and wordHashesAVX2 are two loops, one after the other, over a
// stretch of up to 32 blocks of 64 bytes:
//
//	for every block:
//	    m     = bit i set: byte i is a letter or digit
//	    edges = m ^ (m<<1 | last bit of the block before)
//	    append the positions of the bits of edges to a list, 16 bits each
//	    stop the list at the first non-ASCII byte
//	for every two positions start, end in the list:
//	    l  = end - start                      (more than 16: a loop of its own)
//	    a  = (8 bytes at start   | 0x20…20) & lowMask[l]  ^ Key0
//	    b  = (8 bytes at start+8 | 0x20…20) & highMask[l] ^ Key1 ^ l<<56
//	    append low(a·b) ^ high(a·b)
//
// A list of odd length ends with the start of a word that is still open; the
// next stretch begins there.
//
// The tricks, with English text of 8 MB on one core of an AMD Zen 5 (best of 15
// runs of BenchmarkWords, while other work ran; 4.9 GB/s with AVX-512, 3.7 with
// AVX2, 1.2 with the Go twin):
//
//  1. Edges, not starts and ends: one mask, one list, whose entries are alternately
//     a start and an end. A word that crosses the border of two blocks needs no special
//     case.
//  2. No branch depends on how many words a block holds: a whole register is always
//     written to the list, and only its length grows by the number of bits.
//     The one loop of unknown length ends once a stretch. Stretches of 1, 4,
//     8, 16, 32 blocks: 1.8, 3.6, 4.2, 4.5, 4.6 GB/s.
//  3. AVX-512 classifies by one look-up in a table of 128 bytes (VPERMI2B) and
//     makes the positions by one VPCOMPRESSB. The first loop alone (separators
//     only) runs at 25 to 33 GB/s; with AVX2 at 9, with the Go twin at 2.6.
//  4. AVX2 has no compression, so the positions of each byte of the mask come from
//     a table of 2 kB: 3.2 to 3.7 GB/s, against 2.6 by TZCNT and BLSR.
//  5. No folded copy of the text: letters and digits are folded by setting 0x20, and only
//     they are hashed. Two ORs a word, 3 %. And since the text itself is read, no load
//     waits for a store.
//  6. The next stretch is prefetched during the first loop, as the second takes too
//     long for the processor's own prefetcher to run ahead: 3.9 to 4.6 GB/s. (A
//     prefetch past the end of the text reads nothing and cannot fault.)
//  7. The word number counts from -words up to 0, and words are addressed by base
//     and index: two instructions of twenty less, 4.3 to 4.9 GB/s.

var bestWords = availableWords()[0]

// availableWords lists the variants that can run here, best first.
func availableWords() []wordVariant {
	var v []wordVariant
	x := &cpu.X86
	common := x.HasBMI1 && x.HasBMI2 && x.HasPOPCNT
	if common && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VBMI && x.HasAVX512VBMI2 {
		v = append(v, wordsAVX512)
	}
	if common && x.HasAVX2 {
		v = append(v, wordsAVX2)
	}
	return append(v, wordsGo)
}

// hashBlocksVector is hashBlocks by the given variant, in steps of up to
// wordBlocks blocks; each step begins at the word that the one before left open.
func hashBlocksVector(v wordVariant, dst []uint64, src []byte, or uint64) ([]uint64, int, bool) {
	n := 0
	for {
		blocks := min((len(src)-n-wordPad)/wordBlock, wordBlocks)
		if blocks <= 0 {
			return dst, n, true
		}
		dst = slices.Grow(dst, blocks*wordBlock/2)
		// Safe: at most 32 words end in a block of 64 bytes, so out has room; in has blocks*64+16
		// bytes by the choice of blocks; the kernels keep no pointer.
		out := unsafe.SliceData(dst[len(dst):cap(dst)])
		in := unsafe.SliceData(src[n:])
		var words, used int
		var ascii bool
		if v == wordsAVX512 {
			words, used, ascii = wordHashesAVX512(out, in, blocks, or)
		} else {
			words, used, ascii = wordHashesAVX2(out, in, blocks, or)
		}
		dst = dst[:len(dst)+words]
		n += used
		if ascii && used == 0 {
			// One word fills all the blocks.
			dst, n, ascii = appendLong(dst, src, n, or)
		}
		if !ascii {
			return dst, n, false
		}
	}
}

// edgesOf is edgesOfBlocks by the given variant.
func edgesOf(v wordVariant, edges *[EdgeBytes]uint16, src []byte, blocks int) (words, used int, ascii bool) {
	_ = src[blocks*wordBlock-1]
	switch v {
	case wordsAVX512:
		return wordEdgesAVX512(&edges[0], &src[0], blocks)
	case wordsAVX2:
		return wordEdgesAVX2(&edges[0], &src[0], blocks)
	}
	return edgesOfBlocks(edges, src, blocks)
}
