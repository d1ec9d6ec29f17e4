package plant

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Editor makes edited copies of texts. It owns scratch memory and belongs to one
// goroutine.
type Editor struct{ units, moved []unit }

// Append appends a copy of text, edited according to e and the seed. A word that replaces another
// or is inserted is another word of the same text, so that the copy keeps its language and subject.
// Cost: one pass over the text.
func (ed *Editor) Append(dst, text []byte, seed uint64, e Edits) []byte {
	s := newSource(seed, purposeCopy, 0)
	if s.chance(e.Exact) {
		return append(dst, text...)
	}
	ed.units = appendUnits(ed.units[:0], text)
	if len(ed.units) == 0 {
		return append(dst, text...)
	}
	rate := s.between(e.MinRate, e.MaxRate)
	all := ed.units // words to insert come from the whole text
	rest := ed.units
	if s.chance(e.Truncate) {
		rest = truncate(rest, &s)
	}
	if s.chance(e.Move) {
		rest = ed.move(rest, &s)
	}
	style := s.chance(e.Restyle)
	if len(rest) == len(all) {
		dst = append(dst, text[:all[0].start]...)
	}
	for _, u := range rest {
		if s.chance(rate) {
			dst = appendEdit(dst, text, u, all, &s, e)
			continue
		}
		dst = appendApart(dst, text[u.start:u.end])
		if style {
			restyle(dst[len(dst)-(u.end-u.start):], u.core-u.start, &s)
		}
	}
	return dst
}

// truncate cuts off up to half of the words, at either end.
func truncate(units []unit, s *source) []unit {
	cut := s.below(len(units)/2 + 1)
	if s.chance(0.5) {
		return units[cut:]
	}
	return units[:len(units)-cut]
}

// move moves a block of a twentieth to a fifth of the words elsewhere.
func (ed *Editor) move(units []unit, s *source) []unit {
	n := len(units)
	block := n/20 + s.below(n/5-n/20+1)
	if block == 0 {
		return units
	}
	from, to := s.below(n-block+1), s.below(n-block+1)
	rest := append(ed.moved[:0], units[:from]...)
	rest = append(rest, units[from+block:]...)
	rest = append(rest, units[from:from+block]...) // the block, to be rotated into place
	rotate(rest[to:], n-block-to)
	ed.moved = rest
	return rest
}

// rotate moves the first k units of u behind the others.
func rotate(u []unit, k int) {
	reverse(u[:k])
	reverse(u[k:])
	reverse(u)
}

func reverse(u []unit) {
	for i, j := 0, len(u)-1; i < j; i, j = i+1, j-1 {
		u[i], u[j] = u[j], u[i]
	}
}

// appendEdit appends unit u replaced, deleted, or with a word inserted before it.
func appendEdit(dst, text []byte, u unit, all []unit, s *source, e Edits) []byte {
	r, d, i := e.Replace, e.Delete, e.Insert
	if r+d+i == 0 {
		r, d, i = 1, 1, 1
	}
	switch x := s.unit() * (r + d + i); {
	case x < r:
		dst = appendOther(dst, text, u, all, s)
		return append(dst, text[u.core:u.end]...)
	case x < r+d:
		return dst
	default:
		dst = appendOther(dst, text, u, all, s)
		if !isSpaceless(text[u.start:]) {
			dst = append(dst, ' ')
		}
		return appendApart(dst, text[u.start:u.end])
	}
}

// appendApart appends text that starts with a word, and a space before it where it would run
// together with the word before: units that the edits brought side by side may have no space
// between them.
func appendApart(dst, text []byte) []byte {
	if last, size := utf8.DecodeLastRune(dst); size > 0 && !isSpaceless(text) {
		if class := classOf(last); class == letter || class == mark {
			dst = append(dst, ' ')
		}
	}
	return append(dst, text...)
}

// appendOther appends a word of the text that differs from u by more than case,
// or, if a few draws find none, a number.
func appendOther(dst, text []byte, u unit, all []unit, s *source) []byte {
	word := text[u.start:u.core]
	for range 8 {
		o := all[s.below(len(all))]
		other := text[o.start:o.core]
		// A word of one script would run together with neighbours of another.
		if isSpaceless(other) == isSpaceless(word) && !bytes.EqualFold(other, word) {
			return appendApart(dst, other)
		}
	}
	if isSpaceless(word) {
		return append(dst, "々"...)
	}
	return appendApart(dst, strconv.AppendInt(nil, int64(1000+s.below(1_000_000)), 10))
}

// restyle changes case and punctuation of one unit in place without changing its words under the
// default pipeline: ASCII letters change case, an ASCII space or punctuation mark becomes another.
func restyle(u []byte, core int, s *source) {
	const asciiCase = 'a' - 'A'
	isLower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	isUpper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	switch s.below(6) {
	case 0: // shouting
		for i, c := range u[:core] {
			if isLower(c) {
				u[i] -= asciiCase
			}
		}
	case 1: // muttering
		for i, c := range u[:core] {
			if isUpper(c) {
				u[i] += asciiCase
			}
		}
	case 2: // Headline
		if isLower(u[0]) {
			u[0] -= asciiCase
		}
	case 3: // punctuation
		const marks = ".,;:-/ \n"
		for i, c := range u[core:] {
			if bytes.IndexByte([]byte(marks), c) >= 0 {
				u[core+i] = marks[s.below(len(marks))]
			}
		}
	}
}
