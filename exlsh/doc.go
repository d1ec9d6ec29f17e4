// Package exlsh makes SimHash fingerprints of texts with every step open to
// choice: how a text is normalised, what its tokens are, which of them count, how
// many make a shingle, and which hash function gives a shingle its bits.
//
// Use it to agree with fingerprints that exist elsewhere, above all those of the
// Elixir library ExLSH (meltwater/ex_lsh), with which Word and Char agree bit for
// bit; or where a fingerprint shall stand on a hash function that others have. For
// fingerprints that only alike reads, package simhash over the features of package
// shingle is faster and takes any width; to find near-duplicates, package minhash
// with lsh is the better way. Fingerprints are compared by their Hamming distance.
//
// # What is computed
//
//	normalise   the text's bytes to other bytes
//	tokenise    them to tokens
//	filter      drop or change tokens
//	shingle     every N consecutive tokens, joined without a separator
//	hash        every shingle, repeated ones again
//	vote        a bit of the fingerprint is 1 if more than half of the hashes have it
//
// Fewer tokens than N make no shingle, and no shingle makes a fingerprint of zeros,
// which says nothing: two such texts must not be called alike.
//
// The preset's normalisation is NFC, then lower case, then one space for every
// run of bytes that are no word characters of Latin-1. The last step takes bytes for
// what they are not: of the UTF-8 of a letter beyond ASCII most bytes are
// replaced, so that a Greek or Cyrillic word falls apart into what its letters have
// in common. It is kept for the sake of agreement; take another
// normaliser for anything but English.
//
// # What stays compatible
//
// Options.String prints one canonical line that names every choice. What is made
// under one line stays the same bits; a function of the caller's is as stable as its
// name promises. Letters that Unicode has assigned after version 14, which ExLSH
// was run with, may be normalised otherwise than by the original.
//
// The method is that of M. Charikar, "Similarity estimation techniques from rounding
// algorithms" (STOC 2002), as the Meltwater engineers describe it in
// "Locality-sensitive Hashing in Elixir" (2019).
package exlsh
