// Package shingle turns a document into its features: the hashes of all runs of
// n consecutive tokens, its shingles (Broder, "On the resemblance and
// containment of documents", 1997). The Jaccard similarity of two documents is
// that of their sets of features.
//
// Short shingles forgive more edits and find more chance likenesses; 5 words
// suit prose, 3 short notices, and characters (text.Chars) want 20 to 50, or 5
// to 10 for very short strings.
//
// # Definition
//
// The hash of the tokens t₁…tₙ is a polynomial over their hashes, modulo 2⁶⁴,
//
//	H = t₁Cⁿ⁻¹ + t₂Cⁿ⁻² + … + tₙ
//
// which rolls: the next is H·C + t − t_old·Cⁿ, one step a token however large n
// is. The feature is H xored with a key and multiplied, 64 by 64 bits, with a key
// that depends on n, the two halves of the product xored. A document of fewer
// than n tokens has one shingle, of all of them, with their own number in place
// of n. A document without tokens has no features; it is like nothing.
//
// With Repetitions the j-th occurrence of a token, j > 1, counts as another
// token, so that features tell how often as well as whether. With Multiset the j-th
// occurrence of a feature, j > 1, counts as another feature: texts that have features v
// and w times have Σ min(v, w) in common and Σ max(v, w) together, so the Jaccard
// similarity of their sets is the weighted one of the counts.
//
// # What stays compatible
//
// The definition is part of the format: Options.String names it, with the text
// pipeline before it, and the version in it changes if any feature does.
package shingle
