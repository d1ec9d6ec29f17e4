// Package text turns the bytes of a document into tokens, and tokens into 64-bit hashes. It
// is the first step of everything alike does: its tokens decide what two documents have in
// common.
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
// A token's hash is hashing.Bytes of the token after the first four steps.
//
// Folding follows CaseFolding.txt, statuses C and F, and is the same in all languages: final
// sigma becomes sigma, the iota subscript iota, ﬃ becomes ffi, and the Turkic ı and İ stay
// different from i. The pipeline folds decomposed text and composes the result again. So
// texts that are canonically equivalent (under NFKC: compatibility equivalent) have equal
// tokens, however many marks they have, and so have texts that differ only in case.
//
// # What is ignored
//
// The default-ignorable code points of Unicode (soft hyphen, zero-width space, joiners,
// direction marks, variation selectors, combining grapheme joiner, …) and three that only
// stretch a word (Arabic tatweel, N'Ko lajanyalan, Mongolian nirugu) neither cut a word nor
// belong to it. All tokenisers leave them out, under every normalisation, with two
// exceptions: Graphemes leaves out those that stand alone, and keeps those within a
// user-perceived character, such as the joiners of emoji; ASCII has none.
//
// # Tokenisers
//
// Words are runs of letters, numbers and marks; everything else separates, also the
// underscore. In scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) each
// code point is a token; a non-spacing mark of another script joins it. Alnum are runs of
// letters and numbers only, in every script. UAX29 are the word segments of Unicode's annex
// 29 that hold a letter or a number, Space the stretches between white space, Chars the code
// points, and Graphemes the user-perceived characters. ASCII are the ASCII characters except
// white space, one token each; everything else, accents and other scripts too, is dropped
// first, so nothing is left to normalise.
//
// Words suits near-duplicates of prose and is the fastest by far. Use Chars with long
// shingles for text with damaged spacing. Use UAX29 or Graphemes only to agree with another
// program: they are slower, Graphemes by far. Use ASCII only for English in which spacing
// does not matter: it drops nearly all of other texts.
//
// # Bytes that are not UTF-8
//
// No input is an error. An invalid byte is a separator. Chars and Graphemes, which have no
// separators, drop it after normalisation, and it splits nothing else; ASCII drops it as
// well. A NUL is a control character like any other.
//
// # What stays compatible
//
// Options.String prints one canonical line that names every choice, the version of this
// pipeline and the version of Unicode. Two lines are equal exactly if the hashes of every
// text are equal. Compare stored results only if their lines are equal. Options.Version
// chooses an earlier version of the pipeline, whose hashes never change.
//
// # How it runs
//
// Stretches of ASCII go to the vector kernel of internal/simd. A block in which these are
// short goes to its other kernel, which cuts tokens of all scripts: it looks up every code
// point's class in a table made lazily from the tables of unicode, x/text/unicode/norm and
// x/text/cases. The pipeline leaves nearly every code point unchanged or replaces it by
// something of the same length; for the others a loop takes over that handles one code point
// after the other, for as long as it has to, or for one word, which a memo then keeps. Only
// sequences with combining code points go through all steps, a few bytes at a time, cut where
// Unicode guarantees that nothing combines across (UAX 15, section 9), and another memo keeps
// the results of short ones. UAX29 does
// the same for words of letters and digits alone, and gives the pieces around everything else
// to the library.
package text
