//go:build purego || !amd64

package simd

const bestWords = wordsGo

func hashBlocksVector(_ wordVariant, dst []uint64, src []byte, or uint64) ([]uint64, int, bool) {
	return hashBlocks(dst, src, or)
}

// availableWords lists the variants that can run here, best first.
func availableWords() []wordVariant { return []wordVariant{wordsGo} }

func edgesOf(_ wordVariant, edges *[EdgeBytes]uint16, src []byte, blocks int) (words, used int, ascii bool) {
	return edgesOfBlocks(edges, src, blocks)
}
