// Package splice cuts spans out of the text of a record without touching the rest of the record's bytes: out of a field
// of an object of JSON, a cell of CSV or TSV, a line, or a whole file. Escapes of what stays are as they were.
package splice

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
)

// A Span is text[Start:End], in bytes of the decoded text.
type Span struct{ Start, End int }

// Cut appends text without the spans, which are ascending and disjoint.
func Cut(dst, text []byte, spans []Span) []byte {
	at := 0
	for _, s := range spans {
		dst = append(dst, text[at:s.Start]...)
		at = s.End
	}
	return append(dst, text[at:]...)
}

// raws appends what raw stands for without the spans. width returns the length of the piece of raw at i, and that of
// the text that it stands for.
func raws(dst, raw []byte, spans []Span, width func(i int) (in, out int)) []byte {
	at := 0 // in the text
	for i := 0; i < len(raw); {
		in, out := width(i)
		for len(spans) > 0 && at >= spans[0].End {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			return append(dst, raw[i:]...)
		}
		if at < spans[0].Start {
			dst = append(dst, raw[i:i+in]...)
		}
		i, at = i+in, at+out
	}
	return dst
}

// Object appends an object of JSON, which is valid, without the spans of its field of that name, a string. Of several
// fields of the name it is the last one. A name with dots is found as package corpus does.
func Object(dst, raw, field []byte, spans []Span) []byte {
	start, end := content(raw, field)
	dst = append(dst, raw[:start]...)
	content := raw[start:end]
	dst = raws(dst, content, spans, func(i int) (in, out int) {
		if content[i] != '\\' {
			return 1, 1
		}
		r, n := escape(content[i:])
		return n, utf8.RuneLen(r)
	})
	return append(dst, raw[end:]...)
}

// content returns the place of the content of a field, a string, without quotes.
func content(raw, field []byte) (start, end int) {
	at := 0 // of the object to look in
	for {
		if start, end = value(raw[at:], field); start > 0 {
			return at + start + 1, at + end - 1
		}
		outer, rest, dotted := bytes.Cut(field, []byte("."))
		if !dotted {
			return 0, 0
		}
		start, _ = value(raw[at:], outer)
		at, field = at+start, rest
	}
}

// value returns the place of the last value with that key in the outermost object; 0: there is none.
func value(raw, field []byte) (start, end int) {
	depth, key := 0, true // the next string is a key, in the outermost object
	named := false        // the last key was the field, and its value has no end yet
	ends := func(i int) {
		if named && depth == 1 {
			end, named = i, false
		}
	}
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
		case '}', ']':
			ends(i)
			if depth--; depth == 0 {
				return start, start + len(bytes.TrimRight(raw[start:end], " \t\r\n"))
			}
		case ',':
			ends(i)
			key = true
		case ':':
			if named && depth == 1 && key {
				start = i + 1 + space(raw[i+1:])
			}
			key = false
		case '"':
			stop := i + 1
			for raw[stop] != '"' {
				if raw[stop] == '\\' {
					stop++
				}
				stop++
			}
			if depth == 1 && key {
				named = equal(raw[i+1:stop], field)
			}
			i = stop
		}
	}
	return start, end
}

// space returns the length of the white space at the start.
func space(s []byte) int { return len(s) - len(bytes.TrimLeft(s, " \t\r\n")) }

func equal(content, name []byte) bool {
	if bytes.IndexByte(content, '\\') < 0 {
		return bytes.Equal(content, name)
	}
	var plain []byte
	for i := 0; i < len(content); {
		if content[i] != '\\' {
			plain = append(plain, content[i])
			i++
			continue
		}
		r, n := escape(content[i:])
		plain = utf8.AppendRune(plain, r)
		i += n
	}
	return bytes.Equal(plain, name)
}

// escape decodes the escape at the start of s, which is valid. Half of a surrogate pair is U+FFFD.
func escape(s []byte) (rune, int) {
	if s[1] != 'u' {
		return rune(s[1]), 2 // of which only the length counts: all are of ASCII
	}
	r := hex(s[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if both := utf16.DecodeRune(r, hex(s[8:12])); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func hex(digits []byte) rune {
	r, _ := strconv.ParseUint(string(digits), 16, 32) // the escape is valid
	return rune(r)
}

// Row appends a record of a table without the spans of one of its cells. comma separates the cells of CSV; 0: tabs do,
// without quotes. A row of CSV that would be blank, and so no record, gets quotes.
func Row(dst, raw []byte, column int, comma byte, spans []Span) []byte {
	before := len(dst)
	start, end := cell(raw, column, comma)
	dst = append(dst, raw[:start]...)
	content := raw[start:end]
	if comma == 0 || len(content) == 0 || content[0] != '"' {
		dst = Cut(dst, content, spans)
		if comma != 0 && len(dst) == before && len(bytes.Trim(raw[end:], "\r\n")) == 0 {
			dst = append(dst, `""`...)
		}
		return append(dst, raw[end:]...)
	}
	inner := content[1 : len(content)-1]
	dst = raws(append(dst, '"'), inner, spans, func(i int) (in, out int) {
		if inner[i] == '"' {
			return 2, 1
		}
		return 1, 1
	})
	return append(append(dst, '"'), raw[end:]...)
}

// cell returns the place of a cell of a row that has it, with its quotes.
func cell(raw []byte, column int, comma byte) (start, end int) {
	last := len(bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte{'\n'}), []byte{'\r'}))
	by := comma
	if by == 0 {
		by = '\t'
	}
	for i := 0; ; i++ {
		end = start
		for quotes := false; end < last && (quotes || raw[end] != by); end++ {
			quotes = quotes != (comma != 0 && raw[end] == '"')
		}
		if i == column {
			return start, end
		}
		start = end + 1
	}
}

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
