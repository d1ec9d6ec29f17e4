package text

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/simd"
)

// The general path brings the whole document to normal form and cuts that into tokens. It
// does what scan cannot do: tokenisers with boundary rules of their own, filters that
// look at a token's bytes, and the places of tokens.

// general is the state of this path.
type general struct {
	*rules
	normal   []byte
	origins  []origin
	words    *words.Iterator[[]byte]
	clusters *graphemes.Iterator[[]byte]
}

// An origin maps a span of the normal form to the span of the document that it comes from.
type origin struct {
	normal, doc span
	verbatim    bool // the two spans hold the same bytes
}

type span struct{ start, end int }

func (p *origin) docStart(normal int) int {
	if p.verbatim {
		return p.doc.start + normal - p.normal.start
	}
	return p.doc.start
}

func (p *origin) docEnd(normal int) int {
	if p.verbatim {
		return p.doc.start + normal - p.normal.start
	}
	return p.doc.end
}

// appendHashes appends the hash of every token of doc.
func (g *general) appendHashes(dst []uint64, doc []byte) []uint64 {
	g.normalForm(doc, false)
	g.eachToken(func(hash uint64, _ span) { dst = append(dst, hash) })
	return dst
}

// normalForm sets g.normal to the normal form of doc and, if the caller wants places,
// g.origins to where it comes from. An invalid byte becomes a separator, or nothing for
// the tokenisers that drop it. A separator that the pipeline would replace by other
// separators may stay unchanged.
func (g *general) normalForm(doc []byte, places bool) {
	g.normal, g.origins = g.normal[:0], g.origins[:0]
	if g.options.Tokens == ASCII {
		g.visibleForm(doc, places)
		return
	}
	drop := g.options.Tokens == Chars || g.options.Tokens == Graphemes
	for i := 0; i < len(doc); {
		begin, start := len(g.normal), i
		if i = g.table.verbatimEnd(doc, i); i > start {
			g.normal = append(g.normal, doc[start:i]...)
		} else {
			i = g.appendUnit(doc, i, drop)
		}
		if places && len(g.normal) > begin {
			verbatim := bytes.Equal(g.normal[begin:], doc[start:i])
			g.origins = append(g.origins, origin{span{begin, len(g.normal)}, span{start, i}, verbatim})
		}
	}
}

// visibleForm is normalForm for the tokeniser ASCII.
func (g *general) visibleForm(doc []byte, places bool) {
	for i := range doc {
		begin := len(g.normal)
		g.normal = AppendASCII(g.normal, doc[i:i+1], !g.options.NoFold)
		if places && len(g.normal) > begin {
			g.origins = append(g.origins, origin{span{begin, begin + 1}, span{i, i + 1}, true})
		}
	}
}

// AppendASCII appends the characters of doc of which the tokeniser ASCII makes tokens:
// all of ASCII except white space (space and U+0009 to U+000D), letters in lower case if
// fold. It costs O(len(doc)).
func AppendASCII(dst, doc []byte, fold bool) []byte {
	dst = slices.Grow(dst, len(doc)+simd.VisibleSlack)
	n := simd.Visible(dst[len(dst):cap(dst)], doc, fold)
	return dst[:len(dst)+n]
}

// appendUnit appends to g.normal the normal form of the code point at doc[i], which is
// not verbatim, together with the following ones that may combine with it. It returns the
// end of these.
func (g *general) appendUnit(doc []byte, i int, drop bool) int {
	e, w := g.table.lookup(doc, i)
	end := i + w
	if e&invalid != 0 {
		if !drop {
			g.normal = append(g.normal, separator...)
		}
		return end
	}
	for f, fw := g.table.lookup(doc, end); f&(attach|glue) != 0; f, fw = g.table.lookup(doc, end) {
		end += fw
	}
	if e&replaced != 0 && end == i+w {
		g.normal = append(g.normal, g.table.replacement(doc, i)...)
	} else {
		g.normal = append(g.normal, g.pipe.apply(doc[i:end])...)
	}
	return end
}

// eachToken calls emit for every token of g.normal that the filters keep.
func (g *general) eachToken(emit func(hash uint64, token span)) {
	switch g.options.Tokens {
	case UAX29:
		g.eachWordSegment(emit)
	case Graphemes:
		g.clusters.SetText(g.normal)
		for g.clusters.Next() {
			if g.options.Version == V1 || !allIgnorable(g.clusters.Value()) {
				g.emitKept(emit, span{g.clusters.Start(), g.clusters.End()})
			}
		}
	default:
		g.eachRun(emit)
	}
}

// emitKept hashes a token and passes it on unless a filter drops it.
func (g *general) emitKept(emit func(hash uint64, token span), token span) {
	b := g.normal[token.start:token.end]
	if !hasLength(b, g.options.MinLength) {
		return
	}
	hash := hashing.Bytes(b)
	if _, isStop := g.stop[hash]; isStop {
		return
	}
	if g.options.Filter == nil || g.options.Filter(b) {
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

// eachRun cuts g.normal by the actions of its code points.
func (g *general) eachRun(emit func(hash uint64, token span)) {
	start, solo := -1, false
	for i := 0; i < len(g.normal); {
		e, w := g.table.lookup(g.normal, i)
		action := e.action()
		if start >= 0 && (action == actionSeparate || action == actionSolo || solo && action == actionRun) {
			g.emitKept(emit, span{start, i})
			start, solo = -1, false
		}
		if start < 0 && action != actionSeparate {
			start, solo = i, action == actionSolo
		}
		i += w
	}
	if start >= 0 {
		g.emitKept(emit, span{start, len(g.normal)})
	}
}

// eachWordSegment cuts the text between invalid bytes by UAX 29, and keeps the segments
// that hold a letter or a number.
func (g *general) eachWordSegment(emit func(hash uint64, token span)) {
	for from := 0; from < len(g.normal); from++ {
		to := from
		for to < len(g.normal) && g.normal[to] != separator[0] {
			to++
		}
		g.words.SetText(g.normal[from:to])
		for g.words.Next() {
			if holdsLetterOrNumber(g.words.Value()) {
				g.emitKept(emit, span{from + g.words.Start(), from + g.words.End()})
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

// rules are what the caller has asked for, in the forms in which all paths use them.
type rules struct {
	options Options
	table   *table
	pipe    memo
	stop    map[uint64]struct{}
}

// separator is a byte that is part of no code point, and so separates tokens.
var separator = []byte{0xff}
