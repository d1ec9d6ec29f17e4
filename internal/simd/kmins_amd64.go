//go:build amd64 && !purego

package simd

func mixHigh(dst []uint32, src []uint64, key uint64) { mixHighGeneric(dst, src, key) }

func lowerAffine(low, mul, add, src []uint32) { lowerAffineGeneric(low, mul, add, src) }
