package record

import (
	"bytes"
)

// A Word is a word of a value in the form in which it is compared: normalised, or the canonical form of a number,
// date or code. Words joined by signs also appear as one word; a value of kind Value is one word.
type Word struct {
	Text   string
	Tokens []uint64 // hashes; of several words that have one it is the first one's
}

// Words returns the words of a value, in order. Their tokens are those that Cut returns, each
// once. It is for showing what was compared: O(len(value)), with allocations.
func (c *Cutter) Words(value []byte, kind Kind) (words []Word) {
	seen := map[uint64]uint64{} // how often a token was met
	add := func(word []byte, tokens []uint64) {
		w := Word{Text: string(word)}
		for _, h := range tokens {
			nth := seen[h]
			seen[h]++
			if nth > 0 && c.Repetitions {
				w.Tokens = append(w.Tokens, again(h, nth))
			} else if nth == 0 {
				w.Tokens = append(w.Tokens, h)
			}
		}
		words = append(words, w)
	}
	if kind != Value {
		c.onWord = add
	}
	defer func() { c.onWord = nil }()
	tokens, whole := c.Cut(nil, value, kind)
	if kind == Value && whole.Words != 0 {
		add(bytes.TrimSpace(c.normal), tokens)
	}
	return words
}
