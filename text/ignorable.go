package text

import (
	"unicode"
	"unicode/utf8"
)

// isIgnorable reports whether a code point is no part of what is read: the
// default-ignorable ones of Unicode (soft hyphen, zero-width space and joiners, marks
// of direction, variation selectors, …), and those that only make a word longer on
// the page.
func isIgnorable(r rune) bool {
	switch {
	case r < firstIgnorable:
		return false
	case r == tatweel, r == lajanyalan, r == nirugu:
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(unicode.Cf, r) && !isVisibleFormat(r)
}

// allIgnorable reports whether there is nothing else in b.
func allIgnorable(b []byte) bool {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if !isIgnorable(r) {
			return false
		}
		b = b[w:]
	}
	return true
}

const firstIgnorable = 0xad // the soft hyphen

// The stretchers of Arabic, N'Ko and Mongolian.
const tatweel, lajanyalan, nirugu = 0x640, 0x7fa, 0x180a

// isVisibleFormat reports whether a format character (Cf) has a look of its own, and
// so is not default-ignorable: signs that enclose digits, interlinear annotation, and
// what joins hieroglyphs (DerivedCoreProperties.txt).
func isVisibleFormat(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0xfff9 && r <= 0xfffb || r >= 0x13430 && r <= 0x13440
}
