//go:build !purego

package simd

//go:generate sh -c "cd asm && go run ./bottomk -out ../bottomk_amd64.s -stubs ../bottomk_stub_amd64.go -pkg simd"

func xxh3Below(dst, src []uint64, flip, mask, bound uint64) int {
	if !hasVectorMix {
		return xxh3BelowGeneric(dst, src, flip, mask, bound)
	}
	return xxh3BelowAVX512(&dst[0], &src[0], len(src), flip, mask, bound)
}

func below(dst, src []uint64, shift uint, bound uint64) int {
	if !hasVectorMix {
		return belowGeneric(dst, src, shift, bound)
	}
	return belowAVX512(&dst[0], &src[0], len(src), uint64(shift), bound)
}
