package advise

import (
	"bytes"

	"github.com/alike-dev/alike/shingle"
)

// Letters and posts that answer others quote these, in lines with a mark or between two marks. An answer is no copy of what it quotes, and two
// answers to one letter are none of each other: what they share in quotations weighs nothing. A text whose own words are
// less than one part in ownShare, such as a letter passed on, is compared with all it has.
//
//	> Shall we meet on Friday?      quoted
//	Yes, at ten. I will bring …     its own
//	[quote]And on Sunday?[/quote]   quoted
const (
	quotationMark = '>'
	ownShare      = 8
)

// runner makes the runs of texts, for one goroutine.
type runner struct {
	shingles *shingle.Shingler
	own      []byte // scratch
}

// read returns the runs of a text, those of its own words first. The other ones, from own on, stand in quotations.
func (r *runner) read(text []byte) (features []uint64, own int) {
	quoted := r.part(text)
	if len(quoted) == 0 {
		features = r.shingles.AppendFeatures(nil, text)
		return features, len(features)
	}
	features = r.shingles.AppendFeatures(nil, r.own)
	own = len(features)
	return r.shingles.AppendFeatures(features, quoted), own
}

// part returns what of a text is quoted, nothing where nearly all is; own has the rest.
func (r *runner) part(text []byte) (quoted []byte) {
	if bytes.IndexByte(text, quotationMark) < 0 && bytes.IndexByte(text, ']') < 0 {
		return nil
	}
	r.own = r.own[:0]
	open := quotationElement{}
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " \t"); open.depth == 0 && len(rest) > 0 && rest[0] == quotationMark {
			quoted = append(quoted, bytes.TrimLeft(rest, "> \t")...)
			continue
		}
		for len(line) > 0 {
			at, length := open.next(line)
			if open.depth > 0 {
				quoted = append(quoted, line[:at]...)
			} else {
				r.own = append(r.own, line[:at]...)
			}
			open.pass(line[at:])
			line = line[at+length:]
		}
	}
	if open.depth > 0 || len(r.own)*ownShare < len(text) {
		return nil
	}
	return quoted
}

// quotationElements are what forums and pages have around quotations: [quote=Ann]…[/quote].
var quotationElements = []struct{ begins, ends, last string }{
	{"[quote", "[/quote]", "]"},
	{"<blockquote", "</blockquote>", ">"},
}

// quotationElement is the element that a place of a text stands in.
type quotationElement struct {
	kind  int // of quotationElements
	depth int // elements of the kind that are open; 0: none is
}

// next returns where the next mark of a line begins, and its length: that of an element that begins, or that of the one
// that is open. The end of the line is one of length 0.
func (q *quotationElement) next(line []byte) (at, length int) {
	for at < len(line) {
		step := bytes.IndexAny(line[at:], "[<")
		if step < 0 {
			break
		}
		at += step
		for kind, e := range quotationElements {
			switch {
			case q.depth > 0 && kind != q.kind:
			case q.depth > 0 && begins(line[at:], e.ends):
				return at, len(e.ends)
			case begins(line[at:], e.begins):
				if end := bytes.IndexByte(line[at:], e.last[0]); end >= 0 {
					return at, end + 1
				}
			}
		}
		at++
	}
	return len(line), 0
}

// pass goes over the mark that a text begins with, if it does.
func (q *quotationElement) pass(mark []byte) {
	for kind, e := range quotationElements {
		switch {
		case q.depth > 0 && kind != q.kind:
		case begins(mark, e.begins):
			q.kind = kind
			q.depth++
		case q.depth > 0 && begins(mark, e.ends):
			q.depth--
		}
	}
}

// begins tells whether a text begins with ASCII letters, large or small.
func begins(text []byte, with string) bool {
	return len(text) >= len(with) && bytes.EqualFold(text[:len(with)], []byte(with))
}
