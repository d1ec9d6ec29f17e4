package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/simd"
)

// The fast path of UAX29. Most word segments are runs of letters and numbers, as simd.Cut
// finds them, or one code point of a script without spaces. All other segments go to the
// general path: words with something in their middle (don't, 1.5, a_b), katakana next to other
// letters, whatever stops Cut. The pieces for it are cut where no rule reaches across.

// appendSegments does the whole document.
func (t *Tokenizer) appendSegments(dst []uint64, doc []byte) []uint64 {
	if t.wide == nil {
		t.wide = t.newWide()
	}
	w := t.wide
	patience := 0
	for at := 0; at < len(doc); {
		used, seen, stopped := w.classes.Cut(&w.cuts, doc[at:])
		t.swapIn(doc[at : at+used])
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
			dst = t.general.appendHashes(dst, doc[beforeUnderscores(doc, next):at])
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
		dst = t.general.appendHashes(dst, doc[beforeUnderscores(doc, start):stop])
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
