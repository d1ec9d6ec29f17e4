package advise

import (
	"context"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Some copies of a text come without its diacritics: typed on another keyboard, or sent through a program that drops them.
// Nothing of eight characters is left of a Vietnamese text then. Where texts have diacritics, both readings are looked at,
// and é counts as e if that makes copies of markedly more pairs.
const (
	markedFrom  = 0.01    // share of the texts that have diacritics, from which on it is looked at;
	markedEach  = 0.01    // of the characters of such a text
	markedBytes = 2 << 10 // of a text that are looked at
	moreCopies  = 1.05    // so many times as many pairs are copies without diacritics
)

// witnessOf returns the witness of a sample, and the pairs that it has looked at.
func witnessOf(ctx context.Context, s *Sample, threads int) (w *witness, pairs []pair, err error) {
	w, pairs, err = witnessBy(ctx, s, false, threads)
	if err != nil || !s.marked() {
		return w, pairs, err
	}
	stripped, others, err := witnessBy(ctx, s, true, threads)
	if err != nil {
		return nil, nil, err
	}
	if n, before := weightsOf(others).copies, weightsOf(pairs).copies; n >= copiesLeast && float64(n) >= moreCopies*float64(before) {
		return stripped, others, nil
	}
	return w, pairs, nil
}

func witnessBy(ctx context.Context, s *Sample, strip bool, threads int) (*witness, []pair, error) {
	w, err := newWitness(ctx, s, strip, threads)
	if err != nil {
		return nil, nil, err
	}
	pairs := w.pairs(len(s.Documents))
	if w.someTemplates() {
		if pairs, err = w.met(ctx, s, pairs, threads); err != nil {
			return nil, nil, err
		}
	}
	return w, pairs, w.look(ctx, pairs, threads)
}

// marked tells whether texts have diacritics, of which others may be copies without.
func (s *Sample) marked() bool {
	n := 0
	for i := range s.Documents {
		if hasMarks(s.Documents[i].Text) {
			n++
		}
	}
	return n >= copiesLeast && float64(n) >= markedFrom*float64(len(s.Documents))
}

func hasMarks(text []byte) bool {
	text = text[:min(len(text), markedBytes)]
	marks, characters := 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf && isMarked(text[i:], r) {
			marks++
		}
		characters++
		i += size
	}
	return float64(marks) > markedEach*float64(characters)
}

// isMarked tells whether a character is a diacritic, or has one.
func isMarked(at []byte, r rune) bool {
	if unicode.Is(unicode.Mn, r) {
		return true
	}
	whole := norm.NFD.Properties(at).Decomposition()
	if len(whole) == 0 {
		return false
	}
	last, _ := utf8.DecodeLastRune(whole)
	return unicode.Is(unicode.Mn, last)
}
