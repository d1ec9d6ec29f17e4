package text

import (
	"unicode"
	"unicode/utf8"
)

// isIgnorable reports whether a reader does not see a code point: it is default-ignorable
// in Unicode (soft hyphen, zero-width space and joiners, direction marks, variation
// selectors, …), or it only makes a word longer on the page.
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

// allIgnorable reports whether b holds only ignorable code points.
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

// isVisibleFormat reports whether a format character (Cf) has a look of its own, and so
// is not default-ignorable: signs that enclose digits, interlinear annotation, and
// joiners of hieroglyphs (DerivedCoreProperties.txt).
func isVisibleFormat(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0xfff9 && r <= 0xfffb || r >= 0x13430 && r <= 0x13440
}
