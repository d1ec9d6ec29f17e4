package plant

import (
	"unicode"
	"unicode/utf8"
)

// A unit is a word of a text with everything up to the next word: text[start:core] is the word,
// text[core:end] the rest. Units cover a text except for the bytes before its first word.
type unit struct{ start, core, end int }

// Classes of code points, as the default tokeniser sees them.
const (
	separator = iota
	letter    // part of a word
	single    // a word of its own: scripts written without spaces
	mark      // part of whatever it follows
)

var classes = func() (table [1 << 16]uint8) {
	for r := range rune(len(table)) {
		table[r] = classify(r)
	}
	return table
}()

func classify(r rune) uint8 {
	switch {
	case r == 0x30fc || r == 0xff70 ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
			unicode.In(r, unicode.L, unicode.N, unicode.M):
		return single
	case unicode.Is(unicode.Mn, r):
		return mark
	case unicode.In(r, unicode.L, unicode.N, unicode.M):
		return letter
	}
	return separator
}

// classAt returns the class of the code point at the start of b and its length.
// An invalid byte is a separator.
func classAt(b []byte) (class uint8, size int) {
	if b[0] < utf8.RuneSelf {
		return classes[b[0]], 1
	}
	r, size := utf8.DecodeRune(b) // U+FFFD, a separator, for an invalid byte
	return classOf(r), size
}

func classOf(r rune) uint8 {
	if int(r) < len(classes) {
		return classes[r]
	}
	return classify(r)
}

// nextWord returns the first word of text at or after from; start = end =
// len(text) when there is none.
func nextWord(text []byte, from int) (start, end int) {
	for i := from; i < len(text); {
		class, size := classAt(text[i:])
		if class != separator {
			return i, wordEnd(text, i+size, class)
		}
		i += size
	}
	return len(text), len(text)
}

// wordEnd returns the end of a word whose first code point ends at i.
func wordEnd(text []byte, i int, first uint8) int {
	for i < len(text) {
		class, size := classAt(text[i:])
		if class != mark && (first == single || class != letter) {
			break
		}
		i += size
	}
	return i
}

func appendUnits(dst []unit, text []byte) []unit {
	start, end := nextWord(text, 0)
	for start < len(text) {
		next, nextEnd := nextWord(text, end)
		dst = append(dst, unit{start, end, next})
		start, end = next, nextEnd
	}
	return dst
}

// countWords returns the number of words of text.
func countWords(text []byte) int {
	n := 0
	for start, end := nextWord(text, 0); start < len(text); start, end = nextWord(text, end) {
		n++
	}
	return n
}

// isSpaceless says whether a word is of a script written without spaces, so that it needs no space
// next to its neighbour.
func isSpaceless(word []byte) bool {
	class, _ := classAt(word)
	return class == single
}
