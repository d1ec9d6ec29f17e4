//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./parity -out ../parity_amd64.s -stubs ../parity_stub_amd64.go -pkg simd"

var hasVectorParities = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPOPCNTDQ

// paritiesWithinVector processes whole vectors of eight bitmaps. Those behind the n-th may hold
// anything.
//
//	for every 8 bitmaps:
//	    differ = bits set in word 0 of each ^ word 0 of row, + word 1, + word 2, + word 3
//	    8 bits of the mask = differ ≤ most
func paritiesWithinVector(t *ParityTile, n int, row *[4]uint64, most uint32) (mask uint64, ok bool) {
	if !hasVectorParities {
		return 0, false
	}
	return paritiesWithinAVX512(&t[0][0], (n+7)/8, &row[0], uint64(most)), true
}
