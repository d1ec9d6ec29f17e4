// Package delimited cuts tables of separated values into records, and records into cells: CSV, whose columns are separated
// by commas or by the character that Delimiter finds, and TSV.
package delimited

import (
	"bytes"
	"slices"
	"strings"

	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// State is the result of CSVRecord.
type State uint8

const (
	OK   State = iota
	Bad        // malformed: costs the line on which it starts
	More       // does not end here; more data must be read
	Long       // the line on which it starts is over the limit
)

// CSVRecord finds the end of the CSV record at the start of s, whose cells end at comma. n is its length with its line
// end; for a malformed or too long record that of its first line; 0 with More. With eof the data ends with s.
//
// A record that does not end within limit bytes is malformed if it has several lines: an unclosed quote is far more
// likely than a field of that size. So an unclosed quote costs one line instead of all that follow.
func CSVRecord(s []byte, comma byte, limit int64, eof bool) (n int, state State) {
	line := bytes.IndexByte(s, '\n') + 1
	if line == 0 {
		line = len(s)
		if !eof && int64(line) <= limit {
			return 0, More
		}
	}
	if int64(line) > limit {
		return line, Long
	}
	if bytes.IndexByte(s[:line], '"') < 0 {
		return line, OK
	}
	// open is the result if the data ends before the record does.
	open, end := More, eof
	if int64(len(s)) > limit {
		s, open, end = s[:limit], Bad, false
	} else if eof {
		open = Bad
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
		} else if i = cellEnd(s, i, comma); i < len(s) && s[i] == '"' {
			return line, Bad
		}
		switch {
		case i == len(s) || s[i] == '\r' && i+1 == len(s):
			if end {
				return len(s), OK
			}
			return cost(open, line)
		case s[i] == comma:
			i++
		case s[i] == '\n':
			return i + 1, OK
		case s[i] == '\r' && s[i+1] == '\n':
			return i + 2, OK
		default:
			return line, Bad
		}
	}
}

// cost returns the result for a record that does not end in the data.
func cost(open State, line int) (int, State) {
	if open == More {
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
func cellEnd(s []byte, i int, comma byte) int {
	for i < len(s) && s[i] != comma && s[i] != '\n' && s[i] != '"' {
		i++
	}
	return i
}

// cell is the place of one field in a record; for a quoted field, of the content between the quotes.
type cell struct {
	from, to int
	doubled  bool // has doubled quotes
}

// splitCSV appends the cells of one record to dst; ok is false if it is
// malformed.
func splitCSV(dst []cell, raw []byte, comma byte) (cells []cell, ok bool) {
	s := lines.WithoutEnd(raw)
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
			if i = cellEnd(s, i, comma); i < len(s) && s[i] != comma {
				return dst, false
			}
			dst = append(dst, cell{from, i, false})
		}
		if i == len(s) {
			return dst, true
		}
		if s[i] != comma {
			return dst, false
		}
		i++
	}
}

// splitTSV appends the cells of one record to dst.
func splitTSV(dst []cell, raw []byte) []cell {
	s := lines.WithoutEnd(raw)
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

// Comma separates the columns of CSV, unless Delimiter finds another character.
const Comma = ','

// Delimiter returns the character that separates the columns of CSV, given its beginning s, which is not blank. It is
// the semicolon, tab or vertical bar in the header outside of quotes; or a comma, if the header has a comma, or not
// exactly one kind of the three. So a table with commas is never read otherwise. But a table of one column may have a
// name such as "a;b": the first record must have as many cells as the header. Records that do not end within limit
// bytes and firstRecord are not considered. more reports that s is too short to tell; with eof the data ends with it.
func Delimiter(s []byte, limit int64, eof bool) (by byte, more bool) {
	limit = min(limit, firstRecord)
	by = Comma
	var columns, header int
	for _, c := range []byte(",;\t|") {
		n, state := CSVRecord(s, c, limit, eof)
		if state == More {
			return by, true
		}
		cells, ok := splitCSV(nil, s[:n], c)
		switch {
		case state != OK || !ok || len(cells) == 1:
		case c == Comma || by != Comma:
			return Comma, false
		default:
			by, columns, header = c, len(cells), n
		}
	}
	if by == Comma {
		return by, false
	}
	rest := bytes.TrimLeft(s[header:], "\r\n")
	if len(rest) == 0 {
		return by, !eof && int64(len(s)) < limit
	}
	n, state := CSVRecord(rest, by, limit-int64(len(s)-len(rest)), eof)
	if cells, ok := splitCSV(nil, rest[:n], by); state == OK && (!ok || len(cells) != columns) {
		return Comma, false
	}
	return by, state == More
}

// firstRecord is the most bytes that Delimiter reads.
const firstRecord = 1 << 20

// Said returns the character that the first line of a table of CSV says to separate its columns, as spreadsheets write it:
// sep=; in quotes or without.
func Said(line []byte) (by byte, ok bool) {
	s := lines.WithoutEnd(line)
	if len(s) == len(`"sep=;"`) && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	if len(s) != len("sep=;") || !bytes.EqualFold(s[:4], []byte("sep=")) {
		return 0, false
	}
	by = s[4]
	letter := by|0x20 >= 'a' && by|0x20 <= 'z' || by >= '0' && by <= '9'
	return by, by < 0x80 && !letter && by != '"'
}

// headerLine returns a header without the byte order mark and blank lines before it, and of CSV, which has a comma, without
// the line that says what separates the columns.
func headerLine(raw []byte, comma byte) []byte {
	s := bytes.TrimLeft(bytes.TrimPrefix(raw, lines.ByteOrderMark), "\r\n")
	if end := bytes.IndexByte(s, '\n') + 1; comma != 0 && end > 0 {
		if _, ok := Said(s[:end]); ok {
			return bytes.TrimLeft(s[end:], "\r\n")
		}
	}
	return s
}

// Columns are the header of a table and the places of the wanted columns; -1 = absent.
type Columns struct {
	Names    []string
	comma    byte // separates the columns; 0: tabs, without quotes
	text, id int
	fields   []int
}

// Header parses the header line, whose names end at comma, or at tabs without quotes if that is 0. A byte order mark
// and blank lines may precede it. text, id and fields name the wanted columns; with text nil and id "" these are not
// wanted. Of a table with texts a wanted column must not be there twice: one of them would be taken for the other. A
// table of records has all columns, and who reads it says which of them are used.
func Header(raw []byte, comma byte, text *string, id string, fields []string) (*Columns, error) {
	c := &Columns{comma: comma}
	line := headerLine(raw, comma)
	var cells []cell
	if comma == 0 {
		cells = splitTSV(nil, line)
	} else {
		var ok bool
		if cells, ok = splitCSV(nil, line, comma); !ok {
			return c, fault.Because(fault.ErrMalformed, "malformed header: a quoted name is not closed or has text beside its quotes; correct it")
		}
	}
	for _, cell := range cells {
		c.Names = append(c.Names, string(cell.value(line, new([]byte))))
	}
	c.text, c.id = -1, -1
	if text != nil {
		c.text = slices.Index(c.Names, *text)
	}
	if id != "" {
		c.id = slices.Index(c.Names, id)
	}
	if len(fields) > 0 { // a table of records may have very many
		place := make(map[string]int, len(c.Names))
		for i, name := range slices.Backward(c.Names) {
			place[name] = i
		}
		for _, name := range fields {
			at, found := place[name]
			if !found {
				at = -1
			}
			c.fields = append(c.fields, at)
		}
	}
	if c.text < 0 && text != nil {
		remedy := setting.Textf("name the column with the text (%s)", setting.TextField)
		if by, ok := separator(c.Names); ok && comma == 0 {
			remedy = setting.Textf("the columns seem to be separated by %s", by)
		}
		return c, fault.Because(fault.ErrMissingField, "no column %q, there are: %s; %s", *text, fault.List(c.Names), remedy)
	}
	if text != nil {
		return c, c.Once(slices.Concat([]string{*text, id}, fields))
	}
	return c, nil
}

// Repeated returns the names that several columns have.
func (c *Columns) Repeated() (names []string) {
	seen := make(map[string]int, len(c.Names))
	for _, name := range c.Names {
		if seen[name]++; seen[name] == 2 {
			names = append(names, name)
		}
	}
	return names
}

// Once returns an error if several columns have one of these names.
func (c *Columns) Once(names []string) error {
	for _, name := range c.Repeated() {
		if slices.Contains(names, name) {
			return fault.Because(fault.ErrMalformed, "the header has the column %s more than once: give each a name of its own", fault.Shown(name))
		}
	}
	return nil
}

// Comma returns the character that separates the columns; 0: tabs, without quotes.
func (c *Columns) Comma() byte { return c.comma }

// Equal reports whether both, which may be nil, parse records in the same way.
func (c *Columns) Equal(other *Columns) bool {
	if c == nil || other == nil {
		return c == other
	}
	return c == other || c.comma == other.comma && slices.Equal(c.Names, other.Names) &&
		c.text == other.text && c.id == other.id && slices.Equal(c.fields, other.fields)
}

// separator returns what seems to separate the columns of a table that has one column as TSV, with the remedy; ok is
// false if it finds nothing.
func separator(names []string) (by setting.Text, ok bool) {
	if len(names) != 1 {
		return by, false
	}
	for _, c := range [][2]string{{",", "commas"}, {";", "semicolons"}, {"|", "vertical bars"}} {
		if strings.Contains(names[0], c[0]) {
			return setting.Textf("%s, not tabs: read it with %s csv", c[1], setting.Format), true
		}
	}
	return by, false
}

// longCell is the length from which a cell with doubled quotes does not go into scratch memory that grows step by step:
// for a cell of 60 MiB that would take three times as much.
const longCell = 256 << 10

// value returns the content of a cell, a view of raw or of buf.
func (c cell) value(raw []byte, buf *[]byte) []byte {
	v := raw[c.from:c.to:c.to]
	if !c.doubled {
		return v
	}
	start := len(*buf)
	if need := start + len(v); need > max(longCell, cap(*buf)) {
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

// A Row parses records. It has scratch memory and belongs to one goroutine.
type Row struct {
	cells    []cell
	unquoted []byte // scratch for cells with doubled quotes
}

// Parse returns the wanted cells of a record, views of raw or of the Row's memory. The id is nil if it is empty or not
// wanted. fields has as many entries as were wanted, nil for absent ones.
func (r *Row) Parse(c *Columns, raw []byte, fields [][]byte) (text, id []byte, err error) {
	ok := true
	if c.comma == 0 {
		r.cells = splitTSV(r.cells[:0], raw)
	} else {
		r.cells, ok = splitCSV(r.cells[:0], raw, c.comma)
	}
	cells := r.cells
	switch {
	case !ok:
		return nil, nil, errQuotes
	case len(cells) != len(c.Names):
		return nil, nil, fault.Because(fault.ErrFieldCount, "%d fields where the header has %d; correct or remove the record", len(cells), len(c.Names))
	}
	r.unquoted = r.unquoted[:0]
	if c.text >= 0 {
		text = cells[c.text].value(raw, &r.unquoted)
	}
	if c.id >= 0 {
		if v := cells[c.id].value(raw, &r.unquoted); len(v) > 0 {
			id = v
		}
	}
	for i, at := range c.fields {
		fields[i] = nil
		if at >= 0 {
			fields[i] = cells[at].value(raw, &r.unquoted)
		}
	}
	return text, id, nil
}

// Trim frees scratch memory of more than most bytes.
func (r *Row) Trim(most int) {
	if cap(r.unquoted) > most {
		r.unquoted = nil
	}
	if len(r.cells) > most/32 {
		r.cells = nil
	}
}

// All returns the rows of a whole table, its first one too, whatever their numbers of cells: what is no table of records
// may have no header. The columns are separated by tabs without quotes, or by what Delimiter finds. Blank lines do not
// count. line is that of an error, from 1 on.
func All(s []byte, tabs bool) (rows [][]string, line int, err error) {
	const unlimited = 1 << 62
	var comma byte
	line = 1
	if !tabs {
		rest := headerLine(s, Comma)
		line += bytes.Count(s[:len(s)-len(rest)], lines.End)
		var said bool
		if comma, said = Said(s[:bytes.IndexByte(s, '\n')+1]); !said {
			comma, _ = Delimiter(rest, unlimited, true)
		}
		s = rest
	}
	var cells []cell
	var unquoted []byte
	for len(s) > 0 {
		n, state, ok := bytes.IndexByte(s, '\n')+1, OK, true
		if comma != 0 {
			n, state = CSVRecord(s, comma, unlimited, true)
		} else if n == 0 {
			n = len(s)
		}
		record := s[:n]
		switch {
		case len(lines.WithoutEnd(record)) == 0:
			line, s = line+1, s[n:]
			continue
		case comma == 0:
			cells = splitTSV(cells[:0], record)
		default:
			cells, ok = splitCSV(cells[:0], record, comma)
		}
		if !ok || state != OK {
			return nil, line, errQuotes
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			unquoted = unquoted[:0]
			row[i] = string(c.value(record, &unquoted))
		}
		rows, line, s = append(rows, row), line+bytes.Count(record, lines.End), s[n:]
	}
	return rows, 0, nil
}

var errQuotes = fault.Because(fault.ErrMalformed, "malformed CSV: a quoted field is not closed or has text beside its quotes; correct or remove the line")
