//go:build purego || !amd64

package simd

// visibleVector does nothing here.
func visibleVector(_, _ []byte, _ bool) (done, n int) { return 0, 0 }
