package write

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/splice"
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
func (s *Splicer) Append(dst, raw []byte, spans []splice.Span) []byte {
	if s.format == corpus.Text {
		return splice.Cut(dst, raw, spans)
	}
	if s.encoding.Wide() {
		s.decoded = s.encoding.Append(s.decoded[:0], raw)
		raw = s.decoded
	}
	from := len(dst)
	switch s.format {
	case corpus.JSONL:
		dst = splice.Object(dst, raw, s.field, spans)
	case corpus.Lines:
		mark := 0
		if len(raw) >= 3 && string(raw[:3]) == "\xef\xbb\xbf" {
			mark = 3
		}
		dst = append(dst, raw[:mark]...)
		dst = splice.Cut(dst, raw[mark:], spans)
	default:
		dst = splice.Row(dst, raw, s.column, s.comma, spans)
	}
	if s.encoding.Wide() {
		s.decoded = append(s.decoded[:0], dst[from:]...)
		dst = s.encoding.AppendBack(dst[:from], s.decoded)
	}
	return dst
}

// recordCutter cuts spans out of the records of one open file.
type recordCutter struct {
	k       *keptWriter
	file    *corpus.File
	splicer *Splicer // nil: nothing was cut yet
	spans   func(doc uint32) ([]splice.Span, error)
	out     []byte
}

func (k *keptWriter) newRecordCutter(file *corpus.File) *recordCutter {
	return &recordCutter{k: k, file: file}
}

// record returns a record without what is cut out of it, until the next call.
func (r *recordCutter) record(doc uint32, raw []byte) ([]byte, error) {
	if r.k.Cut == nil || !r.k.Cuts.Has(doc) {
		return raw, nil
	}
	if r.splicer == nil {
		r.splicer, r.spans = NewSplicer(r.file, &r.k.Corpus), r.k.Cut()
	}
	spans, err := r.spans(doc)
	r.out = r.splicer.Append(r.out[:0], raw, spans)
	return r.out, err
}
