// Package exlsh makes SimHash fingerprints of texts in which every step can be chosen:
// how a text is normalised, what its tokens are, which of them count, how many make a
// shingle, and which hash function gives a shingle its bits.
//
// Use it to get the same fingerprints as another program, above all those of the Elixir
// library ExLSH (meltwater/ex_lsh), with which Word and Char agree bit for bit; or where
// a fingerprint must use a hash function that other programs have. For fingerprints that
// only alike reads, package simhash over the features of package shingle is faster and
// takes any width; to find near-duplicates, package minhash with lsh is the better way.
// Fingerprints are compared by their Hamming distance.
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
// A text of fewer tokens than N has no shingle and a fingerprint of zeros, which says
// nothing: do not call two such texts alike.
//
// The preset's normalisation is NFC, then lower case, then one space for every run of
// bytes that are no word characters of Latin-1. The last step treats UTF-8 bytes as
// Latin-1: it replaces most bytes of a letter beyond ASCII, so that a Greek or Cyrillic
// word falls apart into the bytes that its letters share. It is kept to agree with ExLSH;
// take another normaliser for anything but English.
//
// # What stays compatible
//
// Options.String prints one canonical line that names every choice. One line always gives
// the same bits; a function of the caller's is as stable as its name promises. Letters
// that Unicode has assigned after version 14, with which ExLSH was run, may be normalised
// differently than by the original.
//
// The method is that of M. Charikar, "Similarity estimation techniques from rounding
// algorithms" (STOC 2002), as the Meltwater engineers describe it in
// "Locality-sensitive Hashing in Elixir" (2019).
package exlsh
