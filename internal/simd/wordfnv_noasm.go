//go:build !amd64 || purego

package simd

const hasWordFNV = false

func wordFNV(dst []uint64, letters []byte, starts []uint32, n, words int, wide bool) {
	wordFNVGeneric(dst, letters, starts, n, words, wide)
}
