//go:build !purego

package simd

func fnvKernels() map[string]func(dst []uint64, text []byte, n int) {
	f := map[string]func(dst []uint64, text []byte, n int){}
	for _, v := range fnvVariants {
		f[v.name] = func(dst []uint64, text []byte, n int) {
			if len(dst) < v.group {
				fnv1Generic(dst, text, n)
				return
			}
			v.do(dst, text, n)
		}
	}
	return f
}
