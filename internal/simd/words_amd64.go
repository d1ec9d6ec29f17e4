//go:build !purego

package simd

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd asm && go run ./words -out ../words_amd64.s -stubs ../words_stub_amd64.go -pkg simd"

// wordBlocks is how many blocks one call of a vector kernel does at most. The
// kernel keeps the places of all edges in them on the stack, two bytes each.
const wordBlocks = 32

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
