// Package simhash turns a set of 64-bit features into a signature of any number of bits
// such that two signatures agree in a share of about 1 − θ/π of their bits, where θ is
// the angle between the two sets: cos θ = |A∩B| / √(|A|·|B|) (Charikar, "Similarity
// Estimation Techniques from Rounding Algorithms", STOC 2002). Every feature stands for a
// pattern of random bits, and each bit of the signature is the majority of the features'
// bits there.
//
// # When to use it
//
// Use it where signatures must be small and are compared by Hamming distance: 64 bits a
// document are enough to tell near-copies (Manku, Jain, Das Sarma, "Detecting
// Near-Duplicates for Web Crawling", WWW 2007), and an [Index] finds all within a few
// bits without looking at all the others. Where sets are compared with a threshold of
// Jaccard similarity, package minhash tells more with the same memory: here two sets that
// have nothing in common agree in half of the bits.
//
// # Compatibility
//
// The two methods are simHash_v1 and fastSimHash_v1 of Dynatrace's hash4j (Otmar
// Ertl), bit for bit, of any width: the pattern of a feature is the output of
// SplitMix64 seeded with it, and a tie sets the bits with odd numbers. They differ
// only in the order of the bits. [Komihash] and [KomihashString] hash elements as
// hash4j's users do, and [Words] does so with the words of a text. The signatures
// of a scheme with a given version never change, on any machine, with or without
// SIMD; tests pin them.
//
// A feature that occurs twice in the set counts twice. Features need not be sorted. They
// must be hashes, or at least all different: small numbers work.
package simhash

import "github.com/alike-dev/alike/internal/simd"

// Sketcher computes the signatures of a scheme. It owns scratch memory, so two goroutines
// must not use it at once; it allocates nothing.
type Sketcher struct {
	scratch simd.MajorityScratch // first, so that it is aligned to cache lines
	scheme  Scheme
}

// NewSketcher returns a sketcher of the scheme. It panics for the zero Scheme.
// Memory: 5 KiB.
func (s Scheme) NewSketcher() *Sketcher {
	if s.bits == 0 {
		panic("simhash: NewSketcher of the zero Scheme")
	}
	return &Sketcher{scheme: s}
}

// The bits whose components have odd numbers, which win ties.
const (
	simpleTie = 0xaaaaaaaaaaaaaaaa
	fastTie   = 0xff00ff00ff00ff00
)

// Sketch writes the signature of the features to dst, whose length must be the scheme's
// Words (otherwise it panics): component i is bit i mod 64 of word ⌊i/64⌋, and unused
// bits of the last word are zero. The empty set gives the result of a tie, the bits with
// odd numbers. Cost: O(len(features)·Words).
func (s *Sketcher) Sketch(dst []uint64, features []uint64) {
	s.scheme.check(dst)
	if s.scheme.method == Fast {
		simd.Majority(dst, features, fastTie, &s.scratch)
		for i, w := range dst {
			dst[i] = transpose(w)
		}
	} else {
		simd.Majority(dst, features, simpleTie, &s.scratch)
	}
	if used := s.scheme.Bits() % 64; used > 0 {
		dst[len(dst)-1] &= 1<<used - 1
	}
}

// transpose turns bit 8i+j of a word into bit 8j+i: it mirrors the 8×8 matrix by
// exchanging the off-diagonal quarters of blocks of 8, 4 and 2 (Warren, Hacker's
// Delight).
func transpose(w uint64) uint64 {
	t := (w ^ w>>28) & 0x00000000f0f0f0f0
	w ^= t ^ t<<28
	t = (w ^ w>>14) & 0x0000cccc0000cccc
	w ^= t ^ t<<14
	t = (w ^ w>>7) & 0x00aa00aa00aa00aa
	return w ^ t ^ t<<7
}
