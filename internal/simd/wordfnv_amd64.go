//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./wordfnv -out ../wordfnv_amd64.s -stubs ../wordfnv_stub_amd64.go -pkg simd"

var hasWordFNV = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

func wordFNV(dst []uint64, letters []byte, starts []uint32, n, words int, wide bool) {
	if !hasWordFNV {
		wordFNVGeneric(dst, letters, starts, n, words, wide)
		return
	}
	if wide {
		wordFNV64AVX512(&dst[0], &letters[0], &starts[0], n, words)
		return
	}
	wordFNVAVX512(&dst[0], &letters[0], &starts[0], n, words)
}
