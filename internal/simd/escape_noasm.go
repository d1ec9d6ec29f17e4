//go:build purego || (!amd64 && !arm64)

package simd

// jsonSpecialVector does nothing of the work here.
func jsonSpecialVector(_ []byte) (n int, found bool) { return 0, false }
