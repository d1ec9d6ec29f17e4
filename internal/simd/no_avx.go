//go:build purego || !amd64

package simd

// Kernels that have vectors on amd64 only are those in Go elsewhere.

// bottomk.go

func xxh3Below(dst, src []uint64, flip, mask, bound uint64) int {
	return xxh3BelowGeneric(dst, src, flip, mask, bound)
}

func below(dst, src []uint64, shift uint, bound uint64) int {
	return belowGeneric(dst, src, shift, bound)
}

// cut.go

const bestCut = cutGo

func availableCuts() []cutVariant { return []cutVariant{cutGo} }

func (cutVariant) cut(k *Classes, c *Cuts, src []byte, blocks int) (starts, ends, swaps, stop int) {
	return cutBlocksGeneric(k, c, src, blocks)
}

func appendCutHashes(dst []uint64, c *Cuts, from, to int) []uint64 {
	return appendCutHashesGeneric(dst, c, from, to)
}

// digest.go

// digestVector does nothing here.
func digestVector(_ []uint64) (done int, sum, products uint64) { return 0, 0, 0 }

// fnv.go

func fnv1(dst []uint64, text []byte, n int) { fnv1Generic(dst, text, n) }

// majority.go

func majority(dst, hashes []uint64, tie uint64, scratch *MajorityScratch) {
	majorityGeneric(dst, hashes, tie, scratch)
}

// oph.go

const hasVectorMix = false

func mixBelow(dst, src []uint64, key, k, bound uint64) int {
	return mixBelowGeneric(dst, src, key, k, bound)
}

func mixOpen(dst, src []uint64, key, k uint64, open *[OpenWords]uint64) int {
	return mixOpenGeneric(dst, src, key, k, open)
}

func passOpen(dst, src []uint64, open *[OpenWords]uint64) int {
	return passOpenGeneric(dst, src, open)
}

func mixPairs(dst, bins []uint64, p *pairs) int { return mixPairsGeneric(dst, bins, p) }

func emptyBins(open, bins []uint64) int { return emptyBinsGeneric(open, bins) }

// overlap.go

const overlapBytes = 0

func overlapBlocks[T uint32 | uint64](_, _ []T, _, _ int) (common, i, j int) { return 0, 0, 0 }

// roll.go

// rollVector does nothing here.
func rollVector(_, _, _ []uint64, _ *uint64, _, _, _, _ uint64) int { return 0 }

// visible.go

// visibleVector does nothing here.
func visibleVector(_, _ []byte, _ bool) (done, n int) { return 0, 0 }

// wordfnv.go

const hasWordFNV = false

func wordFNV(dst []uint64, letters []byte, starts []uint32, n, words int, wide bool) {
	wordFNVGeneric(dst, letters, starts, n, words, wide)
}

// words.go

const bestWords = wordsGo

func hashBlocksVector(_ wordVariant, dst []uint64, src []byte, or uint64) ([]uint64, int, bool) {
	return hashBlocks(dst, src, or)
}

// availableWords lists the variants that can run here, best first.
func availableWords() []wordVariant { return []wordVariant{wordsGo} }

func edgesOf(_ wordVariant, edges *[EdgeBytes]uint16, src []byte, blocks int) (words, used int, ascii bool) {
	return edgesOfBlocks(edges, src, blocks)
}
