//go:build purego || !arm64

package simd

func classify(b *[wordBlock]byte) (word, high uint64) { return classifyGeneric(b) }
