//go:build !amd64 || purego

package simd

func xxh3Below(dst, src []uint64, flip, mask, bound uint64) int {
	return xxh3BelowGeneric(dst, src, flip, mask, bound)
}

func below(dst, src []uint64, shift uint, bound uint64) int {
	return belowGeneric(dst, src, shift, bound)
}
