// Package shingle turns a document into its features: the hashes of all runs of
// n consecutive tokens, its shingles (Broder, "On the resemblance and
// containment of documents", 1997). The Jaccard similarity of two documents is
// that of their sets of features.
//
// Short shingles tolerate more edits and find more chance similarities; 5 words suit
// prose, 3 short notices, and characters (text.Chars) need 20 to 50, or 5 to 10 for very
// short strings.
//
// # Definition
//
// The hash of the tokens t₁…tₙ is a polynomial over their hashes, modulo 2⁶⁴,
//
//	H = t₁Cⁿ⁻¹ + t₂Cⁿ⁻² + … + tₙ
//
// which rolls: the next is H·C + t − t_old·Cⁿ, one step a token however large n is. The
// feature is H xored with a key and multiplied, 64 by 64 bits, with a key that depends on
// n; then the two halves of the product are xored. A document of fewer than n tokens has
// one shingle, of all of them, with their own number in place of n. A document without
// tokens has no features and is similar to nothing.
//
// With Repetitions the j-th occurrence of a token, j > 1, counts as another token, so
// that features also depend on how often a token occurs. With Multiset the j-th
// occurrence of a feature, j > 1, counts as another feature: two texts that have features
// v and w times have Σ min(v, w) in common and Σ max(v, w) together, so the Jaccard
// similarity of their sets is the weighted Jaccard similarity of the counts.
//
// With Weights a feature counts by a weight, such as its rarity in a collection ([Rarities]).
//
// # What stays compatible
//
// The definition is part of the format: Options.String names it after the text pipeline,
// and its version changes if any feature changes.
package shingle
