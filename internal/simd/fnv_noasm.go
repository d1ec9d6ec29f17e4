//go:build purego || !amd64

package simd

func fnv1(dst []uint64, text []byte, n int) { fnv1Generic(dst, text, n) }
