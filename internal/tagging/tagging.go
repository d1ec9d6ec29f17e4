// Package tagging adds fields to records without touching the rest of their bytes: to objects of JSON, to rows of CSV
// and TSV, and as columns to Parquet files (RowTagger). Commands that mark duplicates instead of dropping them use it.
package tagging

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/internal/setting"
)

// Fields are the names of the fields that are added. They are immutable, and safe for concurrent use.
type Fields struct {
	Names     []string
	quoted    [][]byte // the names as JSON
	escapable bool     // a name has a character with a short escape of its own
}

// New returns the fields of these names, with prefix before each.
func New(prefix string, names ...string) *Fields {
	f := &Fields{}
	for _, name := range names {
		f.Names = append(f.Names, prefix+name)
		f.quoted = append(f.quoted, AppendJSON(nil, []byte(prefix+name)))
		f.escapable = f.escapable || strings.ContainsAny(prefix+name, "\"\\/\b\f\n\r\t")
	}
	return f
}

// FreeColumns is an error if a column of a table has the name of one of the fields, or is a part of such a column: the
// names of nested ones are paths with dots.
func (f *Fields) FreeColumns(columns []string) error {
	for _, c := range columns {
		for _, name := range f.Names {
			if c == name || strings.HasPrefix(c, name+".") {
				return f.taken("column", name)
			}
		}
	}
	return nil
}

// FreeObject is an error if an object of JSON has a field with the name of one of the fields. Cost O(length): a search
// for each name and, where names may be written with escapes, one parse.
func (f *Fields) FreeObject(raw []byte) error {
	written := bytes.Contains(raw, []byte(`\u`)) || f.escapable && bytes.IndexByte(raw, '\\') >= 0
	for i := 0; i < len(f.quoted) && !written; i++ {
		written = bytes.Contains(raw, f.quoted[i])
	}
	if !written {
		return nil
	}
	p := parsers.Get()
	defer parsers.Put(p)
	v, err := p.ParseBytes(raw)
	if err != nil {
		return nil // a reader with other rules has read it
	}
	for _, name := range f.Names {
		if v.Exists(name) {
			return f.taken("field", name)
		}
	}
	return nil
}

var parsers fastjson.ParserPool

func (f *Fields) taken(what, name string) error {
	return setting.Errorf("it has a %s %q, which is the name of a tag too: give the tags a %s", what, name, setting.TagPrefix)
}

// AppendObject appends an object of JSON with the fields behind its own. values are JSON, one for each field; of a
// field whose value is nil nothing is added.
func (f *Fields) AppendObject(dst, raw []byte, values [][]byte) []byte {
	end := bytes.LastIndexByte(raw, '}')
	object := bytes.TrimRight(raw[:end], " \t\r\n")
	dst = append(dst, object...)
	comma := object[len(object)-1] != '{'
	for i, v := range values {
		if v == nil {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(append(append(dst, f.quoted[i]...), ':'), v...)
	}
	return append(dst, raw[end:]...)
}

// AppendHeader appends a header of a table with the names of the fields behind its own.
func (f *Fields) AppendHeader(dst, header []byte, comma byte) []byte {
	cells := make([][]byte, len(f.Names))
	for i, name := range f.Names {
		cells[i] = []byte(name)
	}
	return AppendRow(dst, header, comma, cells)
}

// AppendRow appends a row of a table with more cells before its line end. comma separates the cells of CSV; 0: tabs do,
// without quotes.
func AppendRow(dst, raw []byte, comma byte, cells [][]byte) []byte {
	end := len(raw)
	if end > 0 && raw[end-1] == '\n' {
		if end--; end > 0 && raw[end-1] == '\r' {
			end--
		}
	}
	dst = append(dst, raw[:end]...)
	for _, c := range cells {
		if comma == 0 {
			dst = appendPlainCell(append(dst, '\t'), c)
		} else {
			dst = appendCell(append(dst, comma), c, comma)
		}
	}
	return append(dst, raw[end:]...)
}

// appendCell appends a cell of CSV, in quotes where it needs them.
func appendCell(dst, cell []byte, comma byte) []byte {
	if !bytes.ContainsAny(cell, "\"\r\n") && bytes.IndexByte(cell, comma) < 0 {
		return append(dst, cell...)
	}
	dst = append(dst, '"')
	for _, b := range cell {
		if b == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}

// appendPlainCell appends a cell of TSV, which cannot hold a tab or the end of a line: a value with one is written as a
// literal of Go.
func appendPlainCell(dst, cell []byte) []byte {
	if !bytes.ContainsAny(cell, "\t\r\n") {
		return append(dst, cell...)
	}
	return strconv.AppendQuote(dst, string(cell))
}

// AppendJSON appends a text as a string of JSON. What is not UTF-8 becomes U+FFFD.
func AppendJSON(dst, text []byte) []byte {
	quoted, _ := json.Marshal(string(text)) // a string is always valid
	return append(dst, quoted...)
}
