package corpus

import (
	"bytes"
	"strings"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// csvState is what csvRecord found.
type csvState uint8

const (
	csvOK   csvState = iota
	csvBad           // malformed: costs the line on which it starts
	csvMore          // does not end here; more data must be read
	csvLong          // the line on which it starts is over the limit
)

// csvRecord finds the end of the CSV record at the start of s. n is its length
// with its line end; of a malformed or too long one that of its first line; 0
// with csvMore. With eof the data ends with s.
//
// A record that does not end within limit bytes is malformed if it has several
// lines: an unclosed quote is far more likely than a field of that size, and
// so it costs one line instead of all that follow.
func csvRecord(s []byte, limit int64, eof bool) (n int, state csvState) {
	line := bytes.IndexByte(s, '\n') + 1
	if line == 0 {
		line = len(s)
		if !eof && int64(line) <= limit {
			return 0, csvMore
		}
	}
	if int64(line) > limit {
		return line, csvLong
	}
	if bytes.IndexByte(s[:line], '"') < 0 {
		return line, csvOK
	}
	// open is what it means when the data ends before the record does.
	open, end := csvMore, eof
	if int64(len(s)) > limit {
		s, open, end = s[:limit], csvBad, false
	} else if eof {
		open = csvBad
	}
	i := 0
	for {
		if i < len(s) && s[i] == '"' {
			q := closingQuote(s, i+1)
			// A quote at the very end may be the first of two.
			if q < 0 || q+1 == len(s) && !end {
				return cost(open, line)
			}
			i = q + 1
		} else if i = cellEnd(s, i); i < len(s) && s[i] == '"' {
			return line, csvBad
		}
		switch {
		case i == len(s) || s[i] == '\r' && i+1 == len(s):
			if end {
				return len(s), csvOK
			}
			return cost(open, line)
		case s[i] == ',':
			i++
		case s[i] == '\n':
			return i + 1, csvOK
		case s[i] == '\r' && s[i+1] == '\n':
			return i + 2, csvOK
		default:
			return line, csvBad
		}
	}
}

// cost is the result for a record that does not end in the data.
func cost(open csvState, line int) (int, csvState) {
	if open == csvMore {
		line = 0
	}
	return line, open
}

// closingQuote returns the place of the quote that closes a quoted cell whose
// content starts at i, or -1.
func closingQuote(s []byte, i int) int {
	for {
		q := bytes.IndexByte(s[i:], '"')
		if q < 0 {
			return -1
		}
		i += q
		if i+1 == len(s) || s[i+1] != '"' {
			return i
		}
		i += 2
	}
}

// cellEnd returns the place of the comma, quote or line feed that ends an
// unquoted cell.
func cellEnd(s []byte, i int) int {
	for i < len(s) && s[i] != ',' && s[i] != '\n' && s[i] != '"' {
		i++
	}
	return i
}

// cell is the place of one field of a record: of a quoted one the content
// between the quotes.
type cell struct {
	from, to int
	doubled  bool // has doubled quotes
}

// splitCSV appends the cells of one record to dst; ok is false if it is
// malformed.
func splitCSV(dst []cell, raw []byte) (cells []cell, ok bool) {
	s := withoutLineEnd(raw)
	i := 0
	for {
		if i < len(s) && s[i] == '"' {
			end := closingQuote(s, i+1)
			if end < 0 {
				return dst, false
			}
			dst = append(dst, cell{i + 1, end, bytes.IndexByte(s[i+1:end], '"') >= 0})
			i = end + 1
		} else {
			from := i
			if i = cellEnd(s, i); i < len(s) && s[i] != ',' {
				return dst, false
			}
			dst = append(dst, cell{from, i, false})
		}
		if i == len(s) {
			return dst, true
		}
		if s[i] != ',' {
			return dst, false
		}
		i++
	}
}

// splitTSV appends the cells of one record to dst.
func splitTSV(dst []cell, raw []byte) []cell {
	s := withoutLineEnd(raw)
	from := 0
	for {
		tab := bytes.IndexByte(s[from:], '\t')
		if tab < 0 {
			return append(dst, cell{from, len(s), false})
		}
		dst = append(dst, cell{from, from + tab, false})
		from += tab + 1
	}
}

// columns are the header of a table and where the wanted columns are; -1 = not
// there.
type columns struct {
	names    []string
	text, id int
	fields   []int
}

// readHeader parses the header line. A byte order mark and blank lines may
// stand before it.
func readHeader(raw []byte, o Options, f Format) (*columns, error) {
	c := &columns{}
	line := bytes.TrimLeft(bytes.TrimPrefix(raw, byteOrderMark), "\r\n")
	var cells []cell
	if f == TSV {
		cells = splitTSV(nil, line)
	} else {
		var ok bool
		if cells, ok = splitCSV(nil, line); !ok {
			return c, fault.Because(ErrMalformed, "malformed header: a quoted name is not closed or has text beside its quotes; correct it")
		}
	}
	for _, cell := range cells {
		c.names = append(c.names, string(cell.value(line, new([]byte))))
	}
	c.text, c.id = c.find(o.TextField), -1
	if o.IDField != NoID {
		c.id = c.find(o.IDField)
	}
	for _, name := range o.Fields {
		c.fields = append(c.fields, c.find(name))
	}
	if c.text < 0 {
		remedy := setting.Textf("name the column with the text (%s)", setting.TextField)
		if by, ok := separator(c.names, f); ok {
			remedy = setting.Textf("the columns seem to be separated by %s", by)
		}
		return c, fault.Because(ErrMissingField, "no column %q, there are: %s; %s", o.TextField, fault.List(c.names), remedy)
	}
	return c, nil
}

// separator tells what separates the columns of a table in which the format sees one
// column, with the remedy; ok is false if that is not to be seen.
func separator(names []string, f Format) (by setting.Text, ok bool) {
	if len(names) != 1 {
		return by, false
	}
	switch name := names[0]; {
	case f == CSV && strings.Contains(name, "\t"):
		return setting.Textf("tabs, not commas: read it with %s tsv", setting.Format), true
	case strings.Contains(name, ";"):
		return setting.Textf("semicolons: save it with commas, or as .jsonl"), true
	case strings.Contains(name, "|"):
		return setting.Textf("vertical bars: save it with commas, or as .jsonl"), true
	case f == TSV && strings.Contains(name, ","):
		return setting.Textf("commas, not tabs: read it with %s csv", setting.Format), true
	}
	return by, false
}

func (c *columns) find(name string) int {
	for i, have := range c.names {
		if have == name {
			return i
		}
	}
	return -1
}

// value returns the content of a cell, a view of raw or of buf.
func (c cell) value(raw []byte, buf *[]byte) []byte {
	v := raw[c.from:c.to:c.to]
	if !c.doubled {
		return v
	}
	start := len(*buf)
	if need := start + len(v); need > max(longString, cap(*buf)) {
		*buf = append(make([]byte, 0, need), *buf...)
	}
	for {
		q := bytes.IndexByte(v, '"')
		if q < 0 {
			break
		}
		*buf = append(*buf, v[:q+1]...)
		v = v[q+2:]
	}
	*buf = append(*buf, v...)
	return (*buf)[start:len(*buf):len(*buf)]
}

// parseRow fills r from a record of a table.
func (p *Parser) parseRow(r *Record) {
	cells, ok := p.cells[:0], true
	if p.format == TSV {
		cells = splitTSV(cells, r.Raw)
	} else {
		cells, ok = splitCSV(cells, r.Raw)
	}
	p.cells = cells
	cols := p.columns
	switch {
	case !ok:
		r.Err = fault.Because(ErrMalformed, "malformed CSV: a quoted field is not closed or has text beside its quotes; correct or remove the line")
		return
	case len(cells) != len(cols.names):
		r.Err = fault.Because(ErrFieldCount, "%d fields where the header has %d; correct or remove the record", len(cells), len(cols.names))
		return
	}
	p.unquoted = p.unquoted[:0]
	r.Text = cells[cols.text].value(r.Raw, &p.unquoted)
	if cols.id >= 0 {
		if id := cells[cols.id].value(r.Raw, &p.unquoted); len(id) > 0 {
			r.ID = id
		}
	}
	for i, at := range cols.fields {
		p.fields[i] = nil
		if at >= 0 {
			p.fields[i] = cells[at].value(r.Raw, &p.unquoted)
		}
	}
	r.Fields = p.fields
}
