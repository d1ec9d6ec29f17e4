//go:build !amd64 || purego

package simd

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
