//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./kmins -out ../kmins_amd64.s -stubs ../kmins_stub_amd64.go -pkg simd"

// lowerAffine is the best variant that can run here.
var lowerAffine = availableAffine()[0].run

// availableAffine lists the variants that can run here, best first.
func availableAffine() []affineVariant {
	var v []affineVariant
	if cpu.X86.HasAVX512F {
		v = append(v, affineVariant{"AVX-512", func(low, mul, add, src []uint32) {
			lowerAffineAVX512(&low[0], &mul[0], &add[0], len(low), &src[0], len(src))
		}})
	}
	if cpu.X86.HasAVX2 {
		v = append(v, affineVariant{"AVX2", func(low, mul, add, src []uint32) {
			lowerAffineAVX2(&low[0], &mul[0], &add[0], len(low), &src[0], len(src))
		}})
	}
	return append(v, affineVariant{"Go", lowerAffineGeneric})
}

func mixHigh(dst []uint32, src []uint64, key uint64) {
	if whole := len(src) &^ 7; hasVectorMix && whole > 0 {
		mixHighAVX512(&dst[0], &src[0], whole, key)
		dst, src = dst[whole:], src[whole:]
	}
	mixHighGeneric(dst, src, key)
}
