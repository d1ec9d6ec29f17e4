//go:build !purego

package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd asm && go run ./overlap -out ../overlap_amd64.s -stubs ../overlap_stub_amd64.go -pkg simd"

// overlapBytes is the length of a block in bytes, 0 if there is no kernel.
var overlapBytes = bestOverlap()

func bestOverlap() int {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasPOPCNT:
		return 64
	case x.HasAVX2 && x.HasPOPCNT:
		return 32
	}
	return 0
}

// overlapBlocks is OverlapBlocks for sets of at least a block.
func overlapBlocks[T uint32 | uint64](a, b []T, spareA, spareB int) (common, i, j int) {
	// Safe: both sets have a block or more, and the kernels read only whole blocks inside them; T
	// has the size of the type that the kernel reads.
	pa, pb := unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	switch wide := unsafe.Sizeof(T(0)) == 8; {
	case overlapBytes == 64 && wide:
		return overlap64AVX512((*uint64)(pa), len(a), (*uint64)(pb), len(b), spareA, spareB)
	case overlapBytes == 64:
		return overlap32AVX512((*uint32)(pa), len(a), (*uint32)(pb), len(b), spareA, spareB)
	case wide:
		return overlap64AVX2((*uint64)(pa), len(a), (*uint64)(pb), len(b), spareA, spareB)
	}
	return overlap32AVX2((*uint32)(pa), len(a), (*uint32)(pb), len(b), spareA, spareB)
}
