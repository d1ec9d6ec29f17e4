//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./visible -out ../visible_amd64.s -stubs ../visible_stub_amd64.go -pkg simd"

var hasVectorVisible = cpu.X86.HasAVX2 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// visibleVector processes whole groups of 32 bytes; it returns the number of bytes read and
// written.
//
//	for every 32 bytes:
//	    keep = not (9 ≤ c ≤ 13 or c = space or c ≥ 128)
//	    c   |= 0x20 where 'A' ≤ c ≤ 'Z'
//	    for every 8 of them: pack the kept bytes (PEXT), store all 8, advance by
//	    the number kept
//
// No branch depends on the text.
func visibleVector(dst, src []byte, fold bool) (done, n int) {
	groups := len(src) / 32
	if groups == 0 || !hasVectorVisible {
		return 0, 0
	}
	caseBit := uint64(0)
	if fold {
		caseBit = 0x20
	}
	return 32 * groups, visibleAVX2(&dst[0], &src[0], groups, caseBit)
}
