package text

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/internal/simd"
)

// The classes by which simd.Cut knows code points. For UAX29 no table tells them: the segments of a few
// short texts around a code point tell its property.

// actionClasses are the classes of code points that have an action and no flags.
var actionClasses = [...]uint8{
	actionSeparate: 0, actionRun: simd.ClassRun, actionSolo: simd.ClassSolo, actionJoin: simd.ClassRun,
}

// class returns the class of a code point with the given entry, which out replaces if it is
// not nil.
func (t *table) class(r rune, e entry, out []byte) uint8 {
	width := utf8.RuneLen(r)
	if t.options.Tokens == UAX29 {
		return t.segmentClass(r, e, width, out)
	}
	// What changes a token is part of it, whatever its action: the token is made anew, and may become several.
	// Where every code point is a token, or marks end tokens, that happens too often to pay off.
	changes := uint8(simd.ClassRun | simd.ClassRebuild)
	if t.options.Tokens == Chars || t.options.Tokens == Alnum && e&ignored != ignored && !t.staysRun(e, out) {
		changes = simd.ClassStop
	}
	c := actionClasses[e.action()]
	switch {
	case width > 3:
		c = simd.ClassStop
	case e&glue != 0, e&replaced != 0 && e&(attach|joins) != 0:
		c = t.glueClass(r, e, out, changes)
	case e&unstable != 0 && c != 0:
		c = changes
	case e&replaced != 0:
		if c = changes; len(out) == width {
			c = t.swapClass(out, changes)
		}
	case e&attach != 0 && e.action() == actionRun && t.options.Tokens == Words:
		c = simd.ClassStop // after one code point that is a token it begins another one
	case e&attach != 0 && c != 0:
		c |= simd.ClassLastMark | simd.ClassLate
	case e&attach != 0:
		c = simd.ClassLastMark
	case e&joins != 0:
		c |= simd.ClassMark
	}
	return c
}

// glueClass returns the class of a code point that combines with what is before it. It is part of the token before
// it, and after one code point that is a token, a mark like those that join it. So it must not begin a token there
// which goes on behind it.
func (t *table) glueClass(r rune, e entry, out []byte, changes uint8) uint8 {
	const mark = simd.ClassLastMark | simd.ClassLate
	switch {
	case changes == simd.ClassStop:
		return changes
	case e&ignored == ignored, out != nil && t.allJoin(out), out == nil && e.action() != actionRun:
		return changes | mark
	case out == nil && norm.NFC.PropertiesString(string(r)).CCC() == 0 && !composesOutsideRuns()[r]:
		return changes
	case out == nil && norm.NFC.PropertiesString(string(r)).CCC() == 0:
		// It begins a token there, which is made anew with what is before it; no stretch ends between the two.
		return changes | simd.ClassLate
	}
	return simd.ClassStop
}

// composesOutsideRuns has the code points that compose with a mark or separator before them, which may belong to
// another token.
var composesOutsideRuns = sync.OnceValue(func() map[rune]bool {
	seconds := map[rune]bool{}
	for both := range otherComposites() {
		if wordAction(rune(both>>32)) != actionRun {
			seconds[rune(uint32(both))] = true
		}
	}
	return seconds
})

// staysRun reports whether a code point, or what replaces it, is part of a run.
func (t *table) staysRun(e entry, out []byte) bool {
	for len(out) > 0 {
		r, w := utf8.DecodeRune(out)
		if t.action(r) != actionRun {
			return false
		}
		out = out[w:]
	}
	return e.action() == actionRun
}

func (t *table) allJoin(b []byte) bool {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if t.action(r) != actionJoin {
			return false
		}
		b = b[w:]
	}
	return true
}

// swapClass returns the class of a code point that out replaces: a run, or one token, or otherwise.
func (t *table) swapClass(out []byte, otherwise uint8) uint8 {
	c := uint8(simd.ClassSwap)
	for i := 0; i < len(out); {
		r, w := utf8.DecodeRune(out[i:])
		switch e, _ := t.describe(r); {
		case e == actionRun:
			c |= simd.ClassRun
		case e == actionSolo && w == len(out):
			c |= simd.ClassSolo
		default:
			return otherwise
		}
		i += w
	}
	return c
}

// The range of katakana that matters for cutting, and in UTF-8 its first byte and the length of each.
const firstKatakana, lastKatakana, katakanaLead, katakanaWidth = '\u30a1', '\u30fc', 0xe3, 3

// isMiddle marks the ASCII characters that do not end a word between letters, or a number
// between digits.
var isMiddle = [utf8.RuneSelf]bool{'\'': true, '"': true, '.': true, ',': true, ':': true, ';': true}

// isWideMiddle reports whether r is the wide form of a character that is in isMiddle.
func isWideMiddle(r rune) bool {
	const wideForms = 0xff00 // wideForms + n is the wide form of the character 0x20 + n
	return r > wideForms && r-wideForms+' ' < utf8.RuneSelf && isMiddle[r-wideForms+' ']
}

// segmentClass is class for UAX29.
func (t *table) segmentClass(r rune, e entry, width int, out []byte) uint8 {
	c := segmentClassOf(r)
	mark := c&(simd.ClassMark|simd.ClassLastMark) != 0
	switch {
	case width > 3, e&glue != 0:
		return simd.ClassStop
	case e&replaced != 0 && e&(attach|joins) != 0:
		return simd.ClassStop
	case e&replaced != 0 && t.separates(r, out):
		return 0
	case e&replaced != 0:
		return t.segmentSwapClass(out, width)
	case e&unstable != 0, e&attach != 0 && !mark:
		return simd.ClassStop
	case e&attach != 0:
		return simd.ClassRun | simd.ClassLastMark
	}
	return c
}

// segmentSwapClass returns the class of a code point of width bytes that out replaces.
func (t *table) segmentSwapClass(out []byte, width int) uint8 {
	for i := 0; i < len(out); {
		r, w := utf8.DecodeRune(out[i:])
		e, _ := t.describe(r)
		// isMixed looks at the unnormalised text, in which katakana may have other code points.
		if isKatakana := r >= firstKatakana && r <= lastKatakana; e != actionSolo || isKatakana || segmentClassOf(r) != simd.ClassRun {
			return simd.ClassStop
		}
		i += w
	}
	if len(out) != width {
		return simd.ClassStop
	}
	return simd.ClassRun | simd.ClassSwap
}

// separates reports whether the replacement of r separates segments, or r is a character that
// partOfSegment looks for.
func (t *table) separates(r rune, out []byte) bool {
	if isWideMiddle(r) {
		return true
	}
	for i := 0; i < len(out); {
		s, w := utf8.DecodeRune(out[i:])
		if e, _ := t.describe(s); e != actionSolo || segmentClassOf(s) != 0 {
			return false
		}
		i += w
	}
	return len(out) > 0
}

// segmentClassOf finds out how UAX 29 treats a code point by counting the segments of short
// texts that contain it. Katakana and underscores tell apart classes that few other characters
// do.
func segmentClassOf(r rune) uint8 {
	const katakana, alef = "\u30a2", "\u05d0"
	around := func(before, after string) int { return countSegments(before + string(r) + after) }
	const pictograph = "\u2600"
	switch kept := unicode.IsLetter(r) || unicode.IsNumber(r); {
	case around("a", pictograph) == 1: // the joiner
	case around("a", "a") == 1 && around("1", "1") == 1 && around("a", "") == 1:
		switch {
		case around(katakana, katakana) == 1 && around("", "a") == 2 && !kept:
			return simd.ClassRun | simd.ClassMark
		case around(katakana, katakana) == 3 && kept:
			return simd.ClassRun
		}
	case around(katakana, katakana) == 1 && around("a", "a") == 3 && around("1", "1") == 3 && around(alef, alef) == 3:
		if r >= firstKatakana && r <= lastKatakana && kept {
			return simd.ClassRun // see isMixed
		}
	case around("a", "a") == 3 && around("1", "1") == 3 && around(alef, alef) == 3 && around(katakana, katakana) == 3:
		switch {
		case !kept:
			return 0
		case countSegments(string([]rune{r, r})) == 2:
			return simd.ClassSolo
		}
	}
	return simd.ClassStop
}

// countSegments returns the number of word segments of s.
func countSegments(s string) (n int) {
	for it := words.FromString(s); it.Next(); {
		n++
	}
	return n
}
