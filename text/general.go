package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// The general path brings the whole document to normal form and cuts that into tokens. It
// does what scan cannot do: tokenisers with boundary rules of their own, filters that
// look at a token's bytes, and the places of tokens.

// A piece maps a span of the normal form to the span of the document that it comes from.
type piece struct {
	normal, doc span
	verbatim    bool // the two spans hold the same bytes
}

type span struct{ start, end int }

// AppendTokens appends every token of doc, in document order: the same tokens as
// AppendHashes, with their places. It costs O(len(doc)), several times as much as
// AppendHashes.
func (t *Tokenizer) AppendTokens(dst []Token, doc []byte) []Token {
	t.normalForm(doc, true)
	p := 0 // index of the piece in which the last token began
	t.eachToken(func(hash uint64, token span) {
		for t.pieces[p].normal.end <= token.start {
			p++
		}
		q := p
		for t.pieces[q].normal.end < token.end {
			q++
		}
		dst = append(dst, Token{hash, t.pieces[p].docStart(token.start), t.pieces[q].docEnd(token.end)})
	})
	return dst
}

func (p *piece) docStart(normal int) int {
	if p.verbatim {
		return p.doc.start + normal - p.normal.start
	}
	return p.doc.start
}

func (p *piece) docEnd(normal int) int {
	if p.verbatim {
		return p.doc.start + normal - p.normal.start
	}
	return p.doc.end
}

// AppendNormal appends the normal form of doc: the result of the first four steps. Chars
// and Graphemes leave out invalid bytes; the other tokenisers replace each by a
// separator. Only the presence of separators is certain, not which they are. It costs
// O(len(doc)).
func (t *Tokenizer) AppendNormal(dst, doc []byte) []byte {
	t.normalForm(doc, false)
	return append(dst, t.normal...)
}

func (t *Tokenizer) appendGeneral(dst []uint64, doc []byte) []uint64 {
	t.normalForm(doc, false)
	t.eachToken(func(hash uint64, _ span) { dst = append(dst, hash) })
	return dst
}

// normalForm sets t.normal to the normal form of doc and, if the caller wants places,
// t.pieces to where it comes from. An invalid byte becomes a separator, or nothing for
// the tokenisers that drop it. A separator that the pipeline would replace by other
// separators may stay unchanged.
func (t *Tokenizer) normalForm(doc []byte, places bool) {
	t.normal, t.pieces = t.normal[:0], t.pieces[:0]
	if t.options.Tokens == ASCII {
		t.visibleForm(doc, places)
		return
	}
	drop := t.options.Tokens == Chars || t.options.Tokens == Graphemes
	for i := 0; i < len(doc); {
		begin, start := len(t.normal), i
		if i = t.verbatimEnd(doc, i); i > start {
			t.normal = append(t.normal, doc[start:i]...)
		} else {
			i = t.appendUnit(doc, i, drop)
		}
		if places && len(t.normal) > begin {
			verbatim := bytes.Equal(t.normal[begin:], doc[start:i])
			t.pieces = append(t.pieces, piece{span{begin, len(t.normal)}, span{start, i}, verbatim})
		}
	}
}

// visibleForm is normalForm for the tokeniser ASCII.
func (t *Tokenizer) visibleForm(doc []byte, places bool) {
	for i := range doc {
		begin := len(t.normal)
		t.normal = AppendASCII(t.normal, doc[i:i+1], !t.options.NoFold)
		if places && len(t.normal) > begin {
			t.pieces = append(t.pieces, piece{span{begin, begin + 1}, span{i, i + 1}, true})
		}
	}
}

// verbatimEnd returns the end of the stretch of doc from i on that is in normal form
// already.
func (t *Tokenizer) verbatimEnd(doc []byte, i int) int {
	e, w := t.table.lookup(doc, i)
	for w > 0 && e&(replaced|attach|glue|invalid) == 0 {
		f, fw := t.table.lookup(doc, i+w)
		if f&(attach|glue) != 0 {
			break
		}
		i += w
		e, w = f, fw
	}
	return i
}

// appendUnit appends to t.normal the normal form of the code point at doc[i], which is
// not verbatim, together with the following ones that may combine with it. It returns the
// end of these.
func (t *Tokenizer) appendUnit(doc []byte, i int, drop bool) int {
	e, w := t.table.lookup(doc, i)
	end := i + w
	if e&invalid != 0 {
		if !drop {
			t.normal = append(t.normal, separator...)
		}
		return end
	}
	for f, fw := t.table.lookup(doc, end); f&(attach|glue) != 0; f, fw = t.table.lookup(doc, end) {
		end += fw
	}
	if e&replaced != 0 && end == i+w {
		t.normal = append(t.normal, t.table.replacement(doc, i)...)
	} else {
		t.normal = append(t.normal, t.pipe.apply(doc[i:end])...)
	}
	return end
}

// eachToken calls emit for every token of t.normal that the filters keep.
func (t *Tokenizer) eachToken(emit func(hash uint64, token span)) {
	switch t.options.Tokens {
	case UAX29:
		t.eachWordSegment(emit)
	case Graphemes:
		t.clusters.SetText(t.normal)
		for t.clusters.Next() {
			if t.options.Version == V1 || !allIgnorable(t.clusters.Value()) {
				t.emitKept(emit, span{t.clusters.Start(), t.clusters.End()})
			}
		}
	default:
		t.eachRun(emit)
	}
}

// emitKept hashes a token and passes it on unless a filter drops it.
func (t *Tokenizer) emitKept(emit func(hash uint64, token span), token span) {
	b := t.normal[token.start:token.end]
	if !hasLength(b, t.options.MinLength) {
		return
	}
	hash := hashing.Bytes(b)
	if _, isStop := t.stop[hash]; isStop {
		return
	}
	if t.options.Filter == nil || t.options.Filter(b) {
		emit(hash, token)
	}
}

// hasLength reports whether a token has at least min code points.
// (utf8.RuneCount allocates for long ones.)
func hasLength(token []byte, min int) bool {
	for i := 0; i < len(token) && min > 0; i++ {
		if utf8.RuneStart(token[i]) {
			min--
		}
	}
	return min <= 0
}

// eachRun cuts t.normal by the actions of its code points.
func (t *Tokenizer) eachRun(emit func(hash uint64, token span)) {
	start, solo := -1, false
	for i := 0; i < len(t.normal); {
		e, w := t.table.lookup(t.normal, i)
		action := e.action()
		if start >= 0 && (action == actionSeparate || action == actionSolo || solo && action == actionRun) {
			t.emitKept(emit, span{start, i})
			start, solo = -1, false
		}
		if start < 0 && action != actionSeparate {
			start, solo = i, action == actionSolo
		}
		i += w
	}
	if start >= 0 {
		t.emitKept(emit, span{start, len(t.normal)})
	}
}

// eachWordSegment cuts the text between invalid bytes by UAX 29, and keeps the segments
// that hold a letter or a number.
func (t *Tokenizer) eachWordSegment(emit func(hash uint64, token span)) {
	for from := 0; from < len(t.normal); from++ {
		to := from
		for to < len(t.normal) && t.normal[to] != separator[0] {
			to++
		}
		t.words.SetText(t.normal[from:to])
		for t.words.Next() {
			if holdsLetterOrNumber(t.words.Value()) {
				t.emitKept(emit, span{from + t.words.Start(), from + t.words.End()})
			}
		}
		from = to
	}
}

func holdsLetterOrNumber(b []byte) bool {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
		b = b[w:]
	}
	return false
}
