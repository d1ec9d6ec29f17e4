package simhash

import (
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/distinct"
)

// Words makes signatures of texts as hash4j's users do: the elements of the set are the
// text's words, cut at white space (Unicode's White_Space) and otherwise unchanged, each
// hashed by [KomihashString]; a word that repeats counts once. Words owns scratch memory
// and belongs to one goroutine; it allocates nothing once it has seen a text of that
// size.
type Words struct {
	sketcher  *Sketcher
	signature []uint64
	elements  []uint64
	utf16     []byte
}

// NewWords returns a Words for signatures of the scheme. It panics for the zero
// Scheme.
func (s Scheme) NewWords() *Words {
	return &Words{sketcher: s.NewSketcher(), signature: make([]uint64, s.Words())}
}

// AppendSketch appends the packed signature of the text to dst (see
// [Scheme.AppendBinary]) and returns it with the number of different words.
func (w *Words) AppendSketch(dst, text []byte) (signature []byte, words int) {
	w.elements = w.appendElements(w.elements[:0], text)
	set := distinct.Sort(w.elements)
	w.sketcher.Sketch(w.signature, set)
	return w.sketcher.scheme.AppendBinary(dst, w.signature), len(set)
}

// appendElements appends the hashes of the text's words to dst, in their order.
func (w *Words) appendElements(dst []uint64, text []byte) []uint64 {
	start := -1 // of the current word; -1: between words
	for i := 0; i < len(text); {
		size, space := 1, false
		if c := text[i]; c < utf8.RuneSelf {
			space = c == ' ' || c >= '\t' && c <= '\r'
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			space = unicode.IsSpace(r)
		}
		switch {
		case space && start >= 0:
			dst = append(dst, w.hash(text[start:i]))
			start = -1
		case !space && start < 0:
			start = i
		}
		i += size
	}
	if start >= 0 {
		dst = append(dst, w.hash(text[start:]))
	}
	return dst
}

// hash is KomihashString without allocation.
func (w *Words) hash(word []byte) uint64 {
	w.utf16 = appendUTF16(w.utf16[:0], word)
	return Komihash(w.utf16)
}
