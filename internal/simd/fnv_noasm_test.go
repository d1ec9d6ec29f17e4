//go:build purego || !amd64

package simd

func fnvKernels() map[string]func(dst []uint64, text []byte, n int) {
	return map[string]func(dst []uint64, text []byte, n int){}
}
