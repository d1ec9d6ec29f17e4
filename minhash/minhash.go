// Package minhash turns a set of 64-bit features into a signature of k small
// components such that two signatures agree in about J·k components, where J is
// the Jaccard similarity |A∩B| / |A∪B| of the two sets.
//
// A [Scheme] says exactly how a signature is made. It is a value: immutable,
// comparable with ==, printed as one canonical line and parsed back. Signatures
// may be compared only when their schemes are equal. A scheme makes
// [Sketcher]s, which own scratch memory and belong to one goroutine each.
//
// # Which scheme
//
// [OPH], the default, hashes every feature once for the whole signature: fast similarity sketching
// (Dahlgaard, Knudsen, Houen, Thorup, "Fast Similarity Sketching", FOCS 2017). It costs O(n + k
// log k) for n features, leaves no component empty however small the set, and its error is at most
// that of k independent hash functions. Use it unless you have a reason not to.
//
// [KMins] with [MultiplyShift] is the classical sketch: the minima of k independent permutations
// (Broder 1997). It costs O(n·k), which SIMD makes bearable. Use it as an independent check, or
// where every component must come from a permutation of its own. Features are first mixed down to
// 32 bits, so one in 2³² pairs of features looks equal: for sets of a million features that raises
// J by about 0.0002.
//
// [KMins] with [XOR] permutes by x ⊕ r with k random words r. All k minima cost
// only O(n + k), because the minimum of x ⊕ r over a set is the element that
// shares the longest prefix with r. For the same reason the family is weak: the
// probability that an element is the minimum is fixed by its place in the
// binary trie of the set, 2^-d for a leaf at depth d, and not 1/n. The estimate has no bias over
// random seeds, but for a given pair of sets it does not converge to J as k grows. The error is
// that of the other schemes only where the sets are much larger than k. It is here for comparison.
// [PlainXOR] uses the features unchanged, where XOR mixes them with the seed. It is for features
// that are good hashes already, and with [Permutations] it gives the results of a program whose
// random numbers are known.
//
// [Weighted] is for sets whose features have integer weights: two components agree with the
// probability Σ min(w, w') / Σ max(w, w'), the weighted Jaccard similarity (DartMinHash,
// Christiani 2020). Give weights to [WeightedSketcher.SketchWeighted]; without them every feature
// has weight 1.
//
// [BottomK] keeps the k smallest distinct hashes of one hash function (Broder 1997; A. Gudkov,
// "Efficient implementation of MinHash, part 1"). It is the cheapest to make, in memory for k
// hashes however long the stream of features is, and the most accurate for its k, because it
// samples without replacement. But the signature has no components: it cannot be cut into bands.
// Use it for single comparisons, and, as a set of its own, for exact joins and searches of package
// simjoin.
//
// [Scaled] keeps every hash below a bound, and so grows with the set. Use it for the containment
// of a passage in a long text, which signatures of a fixed size cannot tell.
//
// # Components
//
// A component has 1, 2, 4, 8, 16 or 32 bits. Components of b bits also agree by
// accident, with probability 2^-b, and [Scheme.Estimate] corrects for it (Li,
// König, "b-Bit Minwise Hashing", WWW 2010): the standard error grows from
// √(J(1−J)/k) to √(p(1−p)/k) / (1−2^-b) with p = J + (1−J)·2^-b, and the
// signature shrinks by 32/b. A component of b bits is the low b bits of the
// component of 32 bits.
//
// # What stays compatible
//
// The signatures of a scheme with a given version never change, on any machine, with or without
// SIMD; tests pin them. Features may be any 64-bit words, also 1, 2, 3, …: sketchers mix them with
// the seed themselves. They need not be sorted and may repeat.
package minhash

import "iter"

// Sketcher computes signatures. It owns scratch memory, so two goroutines must not use it at once;
// it allocates nothing per set once it has seen a set of that size.
type Sketcher interface {
	// Sketch writes the signature of the set of features to dst, whose length must be the scheme's
	// Words (otherwise it panics). Features are in any order and may repeat; they are not changed.
	// The empty set gives components of all ones, which agree with each other: an empty set is
	// similar to nothing, so callers leave it out. A bottom-k signature is its hashes, ascending,
	// those of 64 bits as two words with the lower first, and then words of all ones.
	Sketch(dst []uint32, features []uint64)
}

// A SeqSketcher is a Sketcher that takes a set block by block, so that its features need not all
// be in memory at once. The sketchers of [OPH], [BottomK] and [KMins] with [MultiplyShift] are
// SeqSketchers.
type SeqSketcher interface {
	Sketcher
	// SketchSeq writes the signature that Sketch would make of the features of all blocks together.
	// It may read the blocks twice.
	SketchSeq(dst []uint32, blocks iter.Seq[[]uint64])
}

// NewSketcher returns a sketcher of the scheme. It panics for the zero Scheme.
// Memory: O(k) and, for k-mins, O(largest set).
func (s Scheme) NewSketcher() Sketcher {
	switch s.method {
	case methodOPH:
		return newOPHSketcher(s)
	case methodMultiplyShift:
		return newMultiplySketcher(s)
	case methodXOR, methodPlainXOR:
		return newXORSketcher(s)
	case methodWeighted:
		return s.NewWeightedSketcher()
	case methodBottomKXXH3, methodBottomKFNV, methodBottomKListing:
		return s.NewBottomKSketcher()
	}
	panic("minhash: NewSketcher of the zero Scheme")
}
