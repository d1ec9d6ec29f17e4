// Package simd holds the loops of alike that are worth writing for vector
// registers, each with a pure Go twin that gives the same result bit for bit.
//
// A kernel's file says the idea of its loop in pseudo-code and numbers the
// tricks, each with the figure that earned it. Which variant runs is decided
// once, at start, by what the processor offers. The assembly for amd64 is generated
// from the nested module internal/simd/asm and committed; the few kernels for arm64 are
// written by hand. The build tag purego and other architectures leave the twins only.
//
// The results are part of the text and sketch formats: no variant may ever
// differ from its twin.
package simd
