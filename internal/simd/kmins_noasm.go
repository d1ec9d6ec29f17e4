//go:build purego || (!amd64 && !arm64)

package simd

func mixHigh(dst []uint32, src []uint64, key uint64) { mixHighGeneric(dst, src, key) }

func lowerAffine(low, mul, add, src []uint32) { lowerAffineGeneric(low, mul, add, src) }

// availableAffine lists the variants that can run here, best first.
func availableAffine() []affineVariant {
	return []affineVariant{{"Go", lowerAffineGeneric}}
}
