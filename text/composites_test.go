package text

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestEveryCompositeIsFound(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		d := decompositionOfComposite(r)
		if d == nil {
			continue
		}
		n++
		last, w := utf8.DecodeLastRune(d)
		first, _ := utf8.DecodeRune(norm.NFC.Bytes(d[:len(d)-w]))
		if c := composite(first, last); c != r {
			t.Errorf("U+%04X and U+%04X compose to U+%04X, not U+%04X", first, last, r, c)
		}
	}
	if n < 900 { // 941 in Unicode 15, and the Hangul syllables
		t.Errorf("%d composites only", n)
	}
}
