//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./escape -out ../escape_amd64.s -stubs ../escape_stub_amd64.go -pkg simd"

var hasVectorSpecial = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// jsonSpecialVector looks through the whole blocks of 64 bytes, one or more. It returns the
// place of the first special byte, or the length of the blocks.
func jsonSpecialVector(s []byte) (n int, found bool) {
	if !hasVectorSpecial {
		return 0, false
	}
	blocks := len(s) / 64
	n = jsonSpecialAVX2(&s[0], blocks)
	return n, n < 64*blocks
}
