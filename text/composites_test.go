package text

import (
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
