//go:build purego || (!amd64 && !arm64)

package simd

import "sync/atomic"

// Kernels that have vectors on amd64 and arm64 are those in Go elsewhere.

// escape.go

func jsonMarks(marks []uint64, s []byte) { jsonMarksGeneric(marks, s) }

func unescapeJSON(dst, src []byte) (written, read int) { return unescapeJSONGeneric(dst, src) }

// kmins.go

func mixHigh(dst []uint32, src []uint64, key uint64) { mixHighGeneric(dst, src, key) }

func lowerAffine(low, mul, add, src []uint32) { lowerAffineGeneric(low, mul, add, src) }

// availableAffine lists the variants that can run here, best first.
func availableAffine() []affineVariant {
	return []affineVariant{{"Go", lowerAffineGeneric}}
}

// parity.go

func paritiesWithinVector(_ *ParityTile, _ int, _ *[4]uint64, _ uint32) (mask uint64, ok bool) {
	return 0, false
}

// prefetch

// Prefetch loads *p. An atomic load is not removed, though nobody uses its result.
func Prefetch(p *uint64) { atomic.LoadUint64(p) }
