//go:build !purego

package simd

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd asm && go run ./fnv -out ../fnv_amd64.s -stubs ../fnv_stub_amd64.go -pkg simd"

// fnvVariant is a kernel for groups of runs.
type fnvVariant struct {
	name  string
	group int
	run   func(dst *uint64, text *byte, groups, n int)
}

// fnvVariants lists the variants that can run here, best first.
var fnvVariants = func() (v []fnvVariant) {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		v = append(v, fnvVariant{"AVX-512", 64, fnv1AVX512})
	}
	if cpu.X86.HasAVX2 {
		v = append(v, fnvVariant{"AVX2", 32, fnv1AVX2})
	}
	return v
}()

func fnv1(dst []uint64, text []byte, n int) {
	if len(fnvVariants) == 0 || len(dst) < fnvVariants[0].group {
		fnv1Generic(dst, text, n)
		return
	}
	fnvVariants[0].do(dst, text, n)
}

// do hashes at least one group:
//
//	for every group of runs:
//	    h = the offset basis, in all lanes
//	    for j < n: h = h·prime ^ text[i+j], i the place of the lane's run
//
// The runs behind the last whole group are hashed by one more group that ends with them.
func (v fnvVariant) do(dst []uint64, text []byte, n int) {
	v.run(&dst[0], &text[0], len(dst)/v.group, n)
	if rest := len(dst) % v.group; rest > 0 {
		last := len(dst) - v.group
		v.run(&dst[last], &text[last], 1, n)
	}
}
