package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/alike-dev/alike/internal/simd"
)

// The fast path of UAX29. Most word segments are runs of letters and numbers, as simd.Cut
// finds them, or one code point of a script without spaces. All other segments go to the
// general path: words with something in their middle (don't, 1.5, a_b), katakana next to other
// letters, whatever stops Cut. The pieces for it are cut where no rule reaches across.
//
// No table tells which code points are simple: the segments of a few short texts around a code
// point tell its property.

// appendSegments does the whole document.
func (t *Tokenizer) appendSegments(dst []uint64, doc []byte) []uint64 {
	if t.wide == nil {
		t.wide = t.newWide()
	}
	w := t.wide
	patience := 0
	for at := 0; at < len(doc); {
		used, seen, stopped := w.classes.Cut(&w.cuts, doc[at:])
		w.cuts.Swapped(t.swap)
		var next int
		dst, next = t.appendSimpleSegments(dst, doc, at, at+used)
		switch seen += at; {
		case next > at+used, stopped && t.learn(doc, seen):
			at = next
		case stopped || used == 0:
			if patience /= 2; used < 24 {
				patience = min(4*patience+16, 256)
			}
			at = t.segmentsEnd(doc, min(seen+1+patience, len(doc)))
			dst = t.appendGeneral(dst, doc[beforeUnderscores(doc, next):at])
		default:
			at = next
		}
	}
	return dst
}

// appendSimpleSegments appends the tokens of doc[at:end], which simd.Cut has cut. Where a
// token is only part of a segment, the general path does the piece around it. It returns where
// it stopped, which may be after end.
func (t *Tokenizer) appendSimpleSegments(dst []uint64, doc []byte, at, end int) ([]uint64, int) {
	starts, ends := t.wide.cuts.Tokens()
	from := 0
	kana := bytes.IndexByte(doc[at:end], katakanaLead) >= 0
	for i := 0; i < len(starts); i++ {
		next := end
		if i+1 < len(starts) {
			next = at + int(starts[i+1])
		}
		start, behind := at+int(starts[i]), at+int(ends[i])
		if !(kana && isMixed(doc[start:behind])) && !t.partOfSegment(doc, start, behind, next) {
			continue
		}
		dst = t.wide.cuts.AppendHashes(dst, from, i)
		stop := t.segmentsEnd(doc, behind)
		dst = t.appendGeneral(dst, doc[beforeUnderscores(doc, start):stop])
		for i+1 < len(starts) && at+int(starts[i+1]) < stop {
			i++
		}
		if from = i + 1; stop >= end {
			return dst, stop
		}
	}
	return t.wide.cuts.AppendHashes(dst, from, len(starts)), end
}

// isMixed reports whether a run has katakana and other letters, which belong to different
// segments.
func isMixed(run []byte) bool {
	if len(run) <= katakanaWidth { // a letter of katakana, and no other
		return false
	}
	own := 0
	for startsKatakana(run[own:]) {
		own += katakanaWidth
	}
	if own > 0 {
		return own < len(run)
	}
	for i, c := range run {
		if c == katakanaLead && startsKatakana(run[i:]) {
			return true
		}
	}
	return false
}

// The range of katakana that matters for cutting, and in UTF-8 its first byte and the length of each.
const firstKatakana, lastKatakana, katakanaLead, katakanaWidth = '\u30a1', '\u30fc', 0xe3, 3

func startsKatakana(b []byte) bool {
	return len(b) >= katakanaWidth && b[0] == katakanaLead && (b[1] == 0x82 && b[2] >= 0xa1 || b[1] == 0x83 && b[2] <= 0xbc)
}

// beforeUnderscores returns where the underscores before doc[i] begin. They are no token, but
// may be a part of the one that begins at i.
func beforeUnderscores(doc []byte, i int) int {
	for i > 0 && doc[i-1] == '_' {
		i--
	}
	return i
}

// partOfSegment reports whether the token doc[start:end] may be only a part of a segment. next
// is where the next token begins, or the text that is not cut yet.
func (t *Tokenizer) partOfSegment(doc []byte, start, end, next int) bool {
	if start > 0 && doc[start-1] == '_' {
		return true
	}
	if end == len(doc) {
		return false
	}
	switch c := doc[end]; {
	case c < utf8.RuneSelf:
		// A Hebrew letter keeps an apostrophe, whatever follows.
		return isMiddle[c] && (next <= end+1 || c == '\'' && doc[end-1] >= utf8.RuneSelf) || c == '_'
	case c == wideFormLead && next <= end+wideFormWidth:
		class, _ := t.segmentClassAt(doc, start)
		return class != simd.ClassSolo
	}
	return false
}

// isMiddle marks the ASCII characters that do not end a word between letters, or a number
// between digits.
var isMiddle = [utf8.RuneSelf]bool{'\'': true, '"': true, '.': true, ',': true, ':': true, ';': true}

// The first byte of the wide forms of ASCII, some of which normalise to such characters, and
// their length in bytes.
const wideFormLead, wideFormWidth = 0xef, 3

// segmentsEnd returns the first place from i on, between two code points, at which the
// text can be cut for segmentation and for normalisation.
func (t *Tokenizer) segmentsEnd(doc []byte, i int) int {
	for i < len(doc) && doc[i]&0xc0 == 0x80 {
		i++
	}
	before := uint8(simd.ClassStop)
	for i < len(doc) {
		class, w := t.segmentClassAt(doc, i)
		apart := before&^simd.ClassSolo == 0
		if apart && class&(simd.ClassStop|simd.ClassMark|simd.ClassLastMark) == 0 {
			return i
		}
		before = class
		i += w
	}
	return len(doc)
}

// segmentClassAt returns the class of the code point at doc[i], and its width.
func (t *Tokenizer) segmentClassAt(doc []byte, i int) (uint8, int) {
	if c := doc[i]; c < utf8.RuneSelf {
		switch {
		case isMiddle[c], c == '_':
			return simd.ClassStop, 1
		case unicode.IsLetter(rune(c)), unicode.IsDigit(rune(c)):
			return simd.ClassRun, 1
		}
		return 0, 1
	}
	r, w := utf8.DecodeRune(doc[i:])
	if r == utf8.RuneError && w == 1 {
		return simd.ClassStop, 1
	}
	if isWideMiddle(r) {
		return simd.ClassStop, w
	}
	return t.table.page(r).class[r%pageSize], w
}

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
	around := func(before, after string) int { return segments(before + string(r) + after) }
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
		case segments(string([]rune{r, r})) == 2:
			return simd.ClassSolo
		}
	}
	return simd.ClassStop
}

// segments returns the number of word segments of s.
func segments(s string) (n int) {
	for it := words.FromString(s); it.Next(); {
		n++
	}
	return n
}
