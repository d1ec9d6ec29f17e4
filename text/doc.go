// Package text turns the bytes of a document into tokens, and tokens into
// 64-bit hashes. It is the first step of everything alike does: what two
// documents have in common is decided by what counts as one token here.
//
// The pipeline has six steps, each of which an Options value can change:
//
//	normalise   NFKC (default), NFC or none
//	fold        full Unicode case folding (default): ß and SS are both ss
//	ignore      what cannot be seen is left out, see below
//	strip       remove diacritics: decompose, drop non-spacing marks, compose
//	tokenise    words (default), alnum, uax29, space, chars, graphemes, ascii
//	filter      stop words, shortest length, a function of the caller's
//
// A token's hash is hashing.Bytes of what is left of it after the first four.
//
// Folding is that of CaseFolding.txt, statuses C and F, the same in all languages: final
// sigma is sigma, the iota subscript iota, ﬃ is ffi, and the Turkic ı and İ stay apart from
// i. It is done to what is decomposed, and what comes of it is composed again, so that texts
// that are canonically equivalent (under NFKC: compatibility equivalent) have equal
// tokens, however many marks they have, and texts that differ by case only too.
//
// # What is ignored
//
// The default-ignorable code points of Unicode (soft hyphen, zero-width space, joiners,
// marks of direction, variation selectors, combining grapheme joiner, …) and the three
// that only stretch a word (Arabic tatweel, N'Ko lajanyalan, Mongolian nirugu) neither cut
// a word nor belong to it. All tokenisers leave them out, under every normalisation, but for
// two: Graphemes leaves out those that stand alone, and keeps those within a user-perceived
// character, such as the joiners of emoji; ASCII has none.
//
// # Tokenisers
//
// Words are runs of letters, numbers and marks; everything else, the underscore
// too, separates. Scripts written without spaces (Han, kana, Thai, Lao, Khmer,
// Myanmar) give one token a code point, which a non-spacing mark of another
// script joins. Alnum are runs of letters and numbers only, in every script.
// UAX29 are the word segments of Unicode's annex 29 that hold a letter or a
// number, Space what lies between white space, Chars the code points, and
// Graphemes the user-perceived characters. ASCII are the characters of ASCII that
// are no white space, one token each; all else, accents and other scripts too, is
// dropped before anything else, so that there is nothing to normalise.
//
// Words suits near-duplicates of prose and is the fastest by far. Use Chars with
// long shingles for text with damaged spacing; UAX29 or Graphemes only to agree
// with another program, for they are slower, Graphemes by far; ASCII only
// for English, where spacing does not matter: it takes nearly all of other texts away.
//
// # Bytes that are not UTF-8
//
// Nothing is an error. An invalid byte is a separator; for Chars and Graphemes,
// which have none, it is dropped after normalisation and splits nothing else; ASCII
// drops it as well. A
// NUL is a code point like any other control character.
//
// # What stays compatible
//
// Options.String prints one canonical line that names every choice, the
// version of this pipeline and the version of Unicode. Two lines are equal
// exactly if the hashes of every text are; what is stored with one line must
// only be compared with what is stored with the same. Options.Version chooses an earlier
// version of the pipeline, whose hashes stay what they were.
//
// # How it runs
//
// Stretches of ASCII go to the vector kernel of internal/simd. A block in which they are
// short goes to its other one, which cuts tokens of all scripts: it looks every code point's
// class up in a table made lazily from the tables of unicode, x/text/unicode/norm and
// x/text/cases. Nearly every code point is either left as it is by the whole pipeline, or
// replaced by something of the same length; where one is not, a loop takes over that does
// one code point after the other, for as long as it has to. Only sequences with combining
// code points go through all steps, a few bytes at a time, cut where Unicode guarantees that
// nothing combines across (UAX 15, section 9), and what comes of short ones is remembered.
// UAX29 takes the same way for words of letters and digits alone, and goes to the library for
// pieces around all else.
package text
