package text

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCompositesStandInTheirRanges(t *testing.T) {
	inside := func(r rune) bool {
		for _, within := range compositeRanges {
			if r >= within.from && r < within.to {
				return true
			}
		}
		return false
	}
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || decompositionOfComposite(r) == nil {
			continue
		}
		if n++; !inside(r) {
			t.Errorf("U+%04X is a composite outside of the ranges", r)
		}
	}
	if n < 900 { // 941 in Unicode 15
		t.Errorf("%d composites only", n)
	}
}
