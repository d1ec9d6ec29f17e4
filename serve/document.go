package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/valyala/fastjson"
	"github.com/zeebo/xxh3"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
)

// mostID is the largest length of an id, in bytes.
const mostID = 1024

// document is a document of a request. Its slices belong to the parser that has read it, and to the document.
type document struct {
	index.Document
	evidence bool
	filter   []byte // as it is written, nil if there is none
	meta     []byte
	values   []byte // memory of the columns but metadata
}

// A parser reads documents. It belongs to one goroutine; what it has read is valid until it reads the next one.
type parser struct {
	json   fastjson.Parser
	fields fields
	names  []string // of the declared fields, in the order of their columns

	declared []bool // which of them the document has so far
}

func newParser(f fields) *parser { return &parser{fields: f, names: f.names()} }

// object parses an object of JSON. The error of fastjson is not shown: it has pieces of the body.
func (p *parser) object(body []byte) (*fastjson.Object, error) {
	v, err := p.json.ParseBytes(body)
	if err != nil {
		return nil, badJSON(err)
	}
	o, err := v.Object()
	if err != nil {
		return nil, badJSON(err)
	}
	return o, nil
}

// document reads a document from an object. Its id is that of the path, if there is one.
func (p *parser) document(body []byte, pathID string, d *document) error {
	o, err := p.object(body)
	if err != nil {
		return err
	}
	*d = document{meta: append(d.meta[:0], '{'), values: d.values[:0], Document: index.Document{Columns: d.Columns[:0]}}
	p.declared = append(p.declared[:0], make([]bool, len(p.names))...)
	o.Visit(func(key []byte, v *fastjson.Value) {
		if err == nil {
			err = p.field(string(key), v, d)
		}
	})
	if err != nil {
		return err
	}
	d.meta = append(d.meta, '}')
	if pathID != "" {
		if d.ID != nil && string(d.ID) != pathID {
			return unprocessable(idField, "differs from that of the path")
		}
		d.ID = []byte(pathID)
	}
	if err := checkID(d.ID); err != nil {
		return err
	}
	if d.Text == nil {
		return unprocessable(textField, "is missing")
	}
	return p.columns(o, d)
}

func checkID(id []byte) error {
	switch {
	case len(id) == 0:
		return unprocessable(idField, "is missing or empty")
	case len(id) > mostID:
		return unprocessable(idField, "has more than %d bytes", mostID)
	case !utf8.Valid(id):
		return unprocessable(idField, "is not UTF-8")
	}
	return nil
}

// field takes one field of the object.
func (p *parser) field(name string, v *fastjson.Value, d *document) (err error) {
	if at, ok := slices.BinarySearch(p.names, name); ok {
		if p.declared[at] {
			return twice(name)
		}
		p.declared[at] = true
	}
	switch name {
	case idField:
		if d.ID != nil {
			return twice(name)
		}
		d.ID, err = scalar(name, v)
		return err
	case textField:
		if d.Text != nil {
			return twice(name)
		}
		if d.Text, err = v.StringBytes(); err != nil {
			return unprocessable(name, "takes a string")
		}
		return nil
	case evidenceField:
		if d.evidence, err = v.Bool(); err != nil {
			return unprocessable(name, "takes true or false")
		}
		return nil
	case filterField:
		if d.Accepts, err = p.filter(v); d.Accepts != nil {
			d.filter = v.MarshalTo(nil)
		}
		return err
	case timeField:
		if d.Time, err = timeOf(name, v); err != nil {
			return err
		}
	}
	if len(d.meta) > 1 {
		d.meta = append(d.meta, ',')
	}
	d.meta = append(appendQuoted(d.meta, name), ':')
	if d.meta, err = appendValue(d.meta, v); err != nil {
		return noNumber(name)
	}
	return nil
}

// appendValue appends a value as it was written. fastjson reads more than JSON: of strings with raw control characters,
// wrong escapes or bytes that are no UTF-8 their characters are written, and a number that is none is an error.
func appendValue(dst []byte, v *fastjson.Value) (_ []byte, err error) {
	from := len(dst)
	if dst = v.MarshalTo(dst); isJSON(dst[from:]) {
		return dst, nil
	}
	dst = dst[:from]
	switch v.Type() {
	case fastjson.TypeObject:
		dst = append(dst, '{')
		v.GetObject().Visit(func(key []byte, of *fastjson.Value) {
			if err != nil {
				return
			}
			if len(dst) > from+1 {
				dst = append(dst, ',')
			}
			dst, err = appendValue(append(appendQuoted(dst, key), ':'), of)
		})
		return append(dst, '}'), err
	case fastjson.TypeArray:
		dst = append(dst, '[')
		for i, of := range v.GetArray() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, of); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case fastjson.TypeString:
		return appendQuoted(dst, v.GetStringBytes()), nil
	}
	return dst, errors.New("no value of JSON")
}

// isJSON tells whether every reader of JSON takes a value.
func isJSON(written []byte) bool {
	return fastjson.ValidateBytes(written) == nil && utf8.Valid(written)
}

// noNumber is the problem of what fastjson takes for a number and JSON does not, such as NaN: it would be given back as it is.
func noNumber(name string) error {
	return unprocessable(name, "has something that is no number of JSON")
}

// twice is the problem of a field of which readers of JSON would take the one or the other.
func twice(name string) error { return unprocessable(name, "is there twice") }

// scalar returns the bytes of a string, or a number as it is written.
func scalar(name string, v *fastjson.Value) ([]byte, error) {
	switch v.Type() {
	case fastjson.TypeString:
		return v.StringBytes()
	case fastjson.TypeNumber:
		written := v.MarshalTo(nil)
		if !isJSON(written) {
			return nil, noNumber(name)
		}
		return written, nil
	}
	return nil, unprocessable(name, "takes a string or a number")
}

// timeOf returns the time of a value; null is none.
func timeOf(name string, v *fastjson.Value) (time.Time, error) {
	if v.Type() == fastjson.TypeNull {
		return time.Time{}, nil
	}
	value, err := scalar(name, v)
	if err != nil {
		return time.Time{}, err
	}
	at, err := stream.ParseTime(value)
	if err != nil {
		return at, unprocessable(name, "is no time: take RFC 3339, or a number since 1970")
	}
	return at, nil
}

func (p *parser) columns(o *fastjson.Object, d *document) error {
	digest := digestOf(d.Text)
	d.values = append(d.values, digest[:]...)
	ends := make([]int, 0, 8)
	for _, name := range p.names {
		v := o.Get(name)
		if v == nil || v.Type() == fastjson.TypeNull {
			ends = append(ends, -1)
			continue
		}
		var err error
		if d.values, err = appendComparable(d.values, p.fields[name], name, v); err != nil {
			return err
		}
		ends = append(ends, len(d.values))
	}
	d.Columns = append(d.Columns, d.values[:len(digest):len(digest)], d.meta)
	from := len(digest)
	for _, end := range ends {
		if end < 0 {
			d.Columns = append(d.Columns, nil)
			continue
		}
		d.Columns = append(d.Columns, d.values[from:end:end])
		from = end
	}
	return nil
}

const digestSize = 16

// digestOf tells texts apart, byte by byte.
func digestOf(text []byte) [digestSize]byte { return xxh3.Hash128(text).Bytes() }

// appendComparable appends a value in a form whose bytes compare as values of its kind do.
func appendComparable(dst []byte, kind fieldKind, name string, v *fastjson.Value) ([]byte, error) {
	switch kind {
	case kindNumber:
		n, err := v.Float64()
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return dst, unprocessable(name, "takes a number")
		}
		return binary.BigEndian.AppendUint64(dst, sortable(n)), nil
	case kindBoolean:
		b, err := v.Bool()
		if err != nil {
			return dst, unprocessable(name, "takes true or false")
		}
		return strconv.AppendBool(dst, b), nil
	case kindTime:
		at, err := timeOf(name, v)
		if err != nil {
			return dst, err
		}
		return binary.BigEndian.AppendUint64(dst, uint64(at.UnixNano())^1<<63), nil
	default:
		s, err := scalar(name, v)
		return append(dst, s...), err
	}
}

// sortable returns bits that are ordered as numbers are.
func sortable(n float64) uint64 {
	b := math.Float64bits(n + 0) // −0 is 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// appendQuoted appends a string of JSON. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted[T ~string | ~[]byte](dst []byte, s T) []byte {
	plain := func(c byte) bool {
		return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	for i := range len(s) {
		if !plain(s[i]) {
			quoted, err := json.Marshal(string(s))
			if err != nil {
				panic("serve: a string cannot be written as JSON: " + err.Error())
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// filter returns the test that an object of a filter is.
func (p *parser) filter(v *fastjson.Value) (func(columns [][]byte) bool, error) {
	o, err := v.Object()
	if err != nil {
		return nil, unprocessable(filterField, "takes an object")
	}
	var tests []condition
	o.Visit(func(key []byte, v *fastjson.Value) {
		if err != nil {
			return
		}
		name := string(key)
		at, declared := slices.BinarySearch(p.names, name)
		if !declared {
			err = unprocessable(filterField, "names a field that the collection does not declare")
			return
		}
		var c condition
		if c, err = newCondition(p.fields[name], filterField+"."+name, v); err == nil {
			c.column = firstField + at
			tests = append(tests, c)
		}
	})
	if err != nil || len(tests) == 0 {
		return nil, err
	}
	return func(columns [][]byte) bool {
		for i := range tests {
			if !tests[i].accepts(columns) {
				return false
			}
		}
		return true
	}, nil
}

// condition is the test of one field: one of some values, or within a range.
type condition struct {
	column   int
	any      [][]byte
	from, to []byte // nil: open; from is within, to is not
}

func newCondition(kind fieldKind, name string, v *fastjson.Value) (c condition, err error) {
	switch v.Type() {
	case fastjson.TypeObject:
		return newRange(kind, name, v)
	case fastjson.TypeArray:
		values, err := v.Array()
		if err != nil || len(values) == 0 {
			return c, unprocessable(name, "takes at least one value")
		}
		for _, value := range values {
			one, err := appendComparable(nil, kind, name, value)
			if err != nil {
				return c, err
			}
			c.any = append(c.any, one)
		}
		return c, nil
	}
	one, err := appendComparable(nil, kind, name, v)
	c.any = [][]byte{one}
	return c, err
}

func newRange(kind fieldKind, name string, v *fastjson.Value) (c condition, err error) {
	o, err := v.Object()
	if err != nil {
		return c, err
	}
	o.Visit(func(key []byte, v *fastjson.Value) {
		to := map[string]*[]byte{"from": &c.from, "to": &c.to}[string(key)]
		switch {
		case err != nil:
		case to == nil:
			err = unprocessable(name, "takes a value, a list of values, or from and to")
		default:
			*to, err = appendComparable([]byte{}, kind, name, v)
		}
	})
	if err == nil && c.from == nil && c.to == nil {
		err = unprocessable(name, "needs from or to")
	}
	return c, err
}

func (c *condition) accepts(columns [][]byte) bool {
	if c.column >= len(columns) || columns[c.column] == nil {
		return false
	}
	value := columns[c.column]
	if c.any != nil {
		return slices.ContainsFunc(c.any, func(of []byte) bool { return string(of) == string(value) })
	}
	return (c.from == nil || string(value) >= string(c.from)) && (c.to == nil || string(value) < string(c.to))
}
