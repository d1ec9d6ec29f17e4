package splice

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/corpus"
)

// A Splicer cuts spans out of the texts of the records of one open file. It belongs to one goroutine.
type Splicer struct {
	format   corpus.Format
	encoding corpus.Encoding
	field    []byte // the name of the text
	column   int    // of it, in tables
	comma    byte
	decoded  []byte
}

// NewSplicer returns the splicer of a file of which a block was read.
func NewSplicer(file *corpus.File, o *corpus.Options) *Splicer {
	field := cmp.Or(o.TextField, "text")
	source := file.Source()
	return &Splicer{
		format: source.Format, encoding: file.Encoding(), field: []byte(field), column: slices.Index(file.Columns(), field), comma: file.Comma(),
	}
}

// Append appends a record without the spans, which are ascending and disjoint, in bytes of the text; of the file if the
// text is all of it.
func (s *Splicer) Append(dst, raw []byte, spans []Span) []byte {
	if s.format == corpus.Text {
		return Cut(dst, raw, spans)
	}
	if s.encoding.Wide() {
		s.decoded = s.encoding.Append(s.decoded[:0], raw)
		raw = s.decoded
	}
	from := len(dst)
	switch s.format {
	case corpus.JSONL:
		dst = Object(dst, raw, s.field, spans)
	case corpus.Lines:
		mark := 0
		if len(raw) >= 3 && string(raw[:3]) == "\xef\xbb\xbf" {
			mark = 3
		}
		dst = append(dst, raw[:mark]...)
		dst = Cut(dst, raw[mark:], spans)
	default:
		dst = Row(dst, raw, s.column, s.comma, spans)
	}
	if s.encoding.Wide() {
		s.decoded = append(s.decoded[:0], dst[from:]...)
		dst = s.encoding.AppendBack(dst[:from], s.decoded)
	}
	return dst
}
