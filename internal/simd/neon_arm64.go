//go:build !purego

package simd

// The kernels for arm64, where every processor has NEON. They are written by hand, since avo
// supports only amd64. Their gain was measured only in instructions, under QEMU
// (docs/decisions/003): a kernel is here if it takes a quarter or less of the twin's instructions.
// NEON cannot multiply words of 64 bits or pack lanes, so mixing, rolling and bottom-k stay in Go.

// classifyNEON is classify.
//
//go:noescape
func classifyNEON(block *byte) (word, high uint64)

// jsonMarksNEON is JSONMarks for one or more blocks of 64 bytes.
//
//go:noescape
func jsonMarksNEON(marks *uint64, s *byte, blocks int)

// lowerAffineNEON is lowerAffine; k is a multiple of 16, k and n are above 0.
//
//go:noescape
func lowerAffineNEON(low, mul, add *uint32, k int, src *uint32, n int)

// paritiesWithinNEON is ParitiesWithin for 1 to 8 groups of eight bitmaps; most is
// at most 256.
//
//go:noescape
func paritiesWithinNEON(tile *uint64, groups int, row *uint64, most uint64) uint64

// Prefetch asks the processor to load the cache line of *p, and does not wait for it.
//
//go:noescape
func Prefetch(p *uint64)

func classify(b *[wordBlock]byte) (word, high uint64) { return classifyNEON(&b[0]) }

// jsonMarks is JSONMarks for len(marks) whole blocks, one or more.
func jsonMarks(marks []uint64, s []byte) { jsonMarksNEON(&marks[0], &s[0], len(marks)) }

func unescapeJSON(dst, src []byte) (written, read int) { return unescapeJSONGeneric(dst, src) }

func mixHigh(dst []uint32, src []uint64, key uint64) { mixHighGeneric(dst, src, key) }

func lowerAffine(low, mul, add, src []uint32) {
	lowerAffineNEON(&low[0], &mul[0], &add[0], len(low), &src[0], len(src))
}

// availableAffine lists the variants that can run here, best first.
func availableAffine() []affineVariant {
	return []affineVariant{{"NEON", lowerAffine}, {"Go", lowerAffineGeneric}}
}

// paritiesWithinVector processes whole groups of eight bitmaps. Those behind the n-th may hold
// anything.
func paritiesWithinVector(t *ParityTile, n int, row *[4]uint64, most uint32) (mask uint64, ok bool) {
	return paritiesWithinNEON(&t[0][0], (n+7)/8, &row[0], uint64(min(most, 256))), true
}
