package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/simd"
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

// What combines with what is before it, and is no mark to simd.Cut, composes with nothing but parts of runs.
func TestWhatComposesWithRuns(t *testing.T) {
	table := mustNew(t, Options{}).table
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		d := []byte(decompositionOfComposite(r))
		if len(d) == 0 {
			continue
		}
		last, w := utf8.DecodeLastRune(d)
		first, _ := utf8.DecodeRune(norm.NFC.Bytes(d[:len(d)-w]))
		p := table.page(last)
		if p.class[last%pageSize] != simd.ClassRun|simd.ClassRebuild || p.entry[last%pageSize]&glue == 0 {
			continue
		}
		if n++; wordAction(first) != actionRun {
			t.Errorf("U+%04X composes with U+%04X, which is no part of a run", last, first)
		}
	}
	if n < 10 {
		t.Errorf("%d composites only", n)
	}
}

// Vowels that compose with a mark before them, and then begin a token or go on with one, equal the twin wherever they
// stand: behind a code point that is a token, behind separators and other marks, and where a stretch ends.
func TestVowelsThatComposeWithMarksEqualTheTwin(t *testing.T) {
	pieces := []string{"\u0cc6", "\u0cbf", "\u0cca", "\u0cd5", "\u0cd6", "\u0cc2", "\u0cbc", "\u0ccd", "ಕ", "ನ್ನು", "中", "か", "か\u3099",
		"\u1b05", "\u1b3a", "\u1b42", "\u1b35", "ก", "ิ", "\u0323", "\u0316", "\u00ad", "é", "ß", " ", ", ", "a", "Word", "\u09c7", "\u09be"}
	random := rand.New(rand.NewPCG(29, 5))
	for _, o := range []Options{{}, {Tokens: Alnum}, {Tokens: Space}, {Normalize: NFC}, {Normalize: None}, {StripDiacritics: true}} {
		tok := mustNew(t, o)
		for range 300 / thin() {
			few := 2 + random.IntN(len(pieces)-1)
			var doc strings.Builder
			for range 1 + random.IntN(40)*random.IntN(40) {
				doc.WriteString(pieces[(few+random.IntN(few)*7)%len(pieces)])
			}
			check(t, tok, doc.String())
		}
	}
}
