package report

import (
	"strings"
	"unicode"
)

// A Word is a word of a value between white space, unchanged.
type Word struct {
	Text  string `json:"t"`
	Alone bool   `json:"m,omitempty"` // the other value exists and does not have it
}

// Words returns the words of a value, and marks those that other does not have, ignoring case and
// punctuation around them. O(len(value) + len(other)).
func Words(value, other string) []Word {
	has := map[string]bool{}
	others := strings.Fields(other)
	for _, w := range others {
		has[plain(w)] = true
	}
	words := []Word{}
	for _, w := range strings.Fields(value) {
		p := plain(w)
		words = append(words, Word{w, len(others) > 0 && p != "" && !has[p]})
	}
	return words
}

// plain is a word without case and surrounding punctuation.
func plain(w string) string {
	return strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }))
}
