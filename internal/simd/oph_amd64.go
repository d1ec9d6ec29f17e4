//go:build !purego

package simd

import (
	"math"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd asm && go run ./oph -out ../oph_amd64.s -stubs ../oph_stub_amd64.go -pkg simd"

// hasVectorMix says whether 64-bit words can be mixed in vectors. AVX2 has no product of 64 bits
// and is no faster at this than scalar code.
var hasVectorMix = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

func mixBelow(dst, src []uint64, key, k, bound uint64) int {
	if !hasVectorMix {
		return mixBelowGeneric(dst, src, key, k, bound)
	}
	if bound == math.MaxUint64 {
		mixAllAVX512(&dst[0], &src[0], len(src), key)
		return len(src)
	}
	return mixBelowAVX512(&dst[0], &src[0], len(src), key, k, bound)
}

func mixOpen(dst, src []uint64, key, k uint64, open *[OpenWords]uint64) int {
	if !hasVectorMix {
		return mixOpenGeneric(dst, src, key, k, open)
	}
	return mixOpenAVX512(&dst[0], &src[0], len(src), key, k, &open[0])
}

func passOpen(dst, src []uint64, open *[OpenWords]uint64) int {
	if !hasVectorMix {
		return passOpenGeneric(dst, src, open)
	}
	return passOpenAVX512(&dst[0], &src[0], len(src), &open[0])
}

func mixPairs(dst, bins []uint64, p *pairs) int {
	if !hasVectorMix {
		return mixPairsGeneric(dst, bins, p)
	}
	return mixRoundsAVX512(&dst[0], &bins[0], &p.inner[0], len(p.inner), &p.outer[0], len(p.outer),
		p.tag, p.innerStep, p.outerStep, p.shift, &p.open[0])
}

func emptyBins(open, bins []uint64) int {
	if !hasVectorMix || len(bins)%64 != 0 {
		return emptyBinsGeneric(open, bins)
	}
	return emptyBinsAVX512(&open[0], &bins[0], len(bins)/64)
}
