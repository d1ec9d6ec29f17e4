//go:build purego || (!amd64 && !arm64)

package simd

func paritiesWithinVector(_ *ParityTile, _ int, _ *[4]uint64, _ uint32) (mask uint64, ok bool) {
	return 0, false
}
