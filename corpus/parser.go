package corpus

import (
	"bytes"

	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/corpus/internal/jsonline"
	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/corpus/internal/rowframe"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
)

// A Parser parses the records of blocks. It owns scratch memory and belongs to
// one goroutine.
type Parser struct {
	o       Options
	kind    *kind
	columns *delimited.Columns // of a table
	block   *Block
	data    []byte // of the block
	pos     int    // in data, or for UTF-16 in narrow
	line    int64
	done    bool // the tail of the block, or its only record, was returned

	encoding bom.Encoding // of the file
	narrow   []byte       // of UTF-16: data with a byte for each two
	decoded  []byte       // of UTF-16: the record in UTF-8

	json    jsonline.Scanner
	names   [][]byte         // wanted fields of JSON, each once; the text is the first
	place   map[string]int   // of each in names
	vals    []jsonline.Value // one for each name
	fieldAt []int            // where Options.Fields are in names
	idAt    int              // where the id is in names; -1 = none wanted
	nested  []nested         // those of names that may be of nested fields

	row    delimited.Row
	fields [][]byte // becomes Record.Fields

	watch *watch // nil: nobody asks
}

// NewParser returns a parser for files opened with the same options.
func NewParser(o Options) *Parser {
	o = o.withDefaults()
	p := &Parser{o: o, fields: make([][]byte, len(o.Fields)), idAt: -1, place: map[string]int{}}
	p.want(o.TextField)
	for _, name := range o.Fields {
		p.fieldAt = append(p.fieldAt, p.want(name))
	}
	if o.IDField != NoID {
		p.idAt = p.want(o.IDField)
	}
	p.wantNested()
	if o.seen != nil {
		p.watch = newWatch(o)
	}
	p.vals = make([]jsonline.Value, len(p.names))
	return p
}

// Overwrite allows the parser to unescape a long text in place, in the memory of Block or
// ParseRaw, to avoid a second copy. Record.Raw then has only its length left, and must
// not be parsed again.
func (p *Parser) Overwrite(allowed bool) { p.vals[0].Over = allowed }

// want adds a field to the wanted ones and returns its index.
func (p *Parser) want(name string) int {
	at, found := p.place[name]
	if !found {
		at = len(p.names)
		p.place[name], p.names = at, append(p.names, []byte(name))
	}
	return at
}

// Start sets b, a block of f, as the source of the next records.
func (p *Parser) Start(f *File, b *Block) {
	p.kind, p.columns, p.encoding, p.block = f.kind, f.columns, f.encoding, b
	p.data, p.pos, p.line, p.done = b.data, 0, b.firstLine, false
	if p.encoding.Wide() {
		p.narrow = p.encoding.AppendNarrow(p.narrow[:0], b.data)
	}
}

// Trim ends the parsing of a block or record and frees scratch memory that an unusually
// long one has needed. Without it that memory stays as long as the parser.
func (p *Parser) Trim() {
	p.block, p.data = nil, nil
	for i := range p.vals {
		p.vals[i].Trim(scratchMax)
	}
	for i := range p.nested {
		for j := range p.nested[i].vals {
			p.nested[i].vals[j].Trim(scratchMax)
		}
	}
	p.row.Trim(scratchMax)
	if cap(p.narrow)+cap(p.decoded) > scratchMax {
		p.narrow, p.decoded = nil, nil
	}
}

// scratchMax is the most scratch memory of each kind that Trim keeps.
const scratchMax = 1 << 20

// Next parses the next record of the block into r and reports whether there
// was one. Cost O(length), no allocation once warm, except for r.Err.
func (p *Parser) Next(r *Record) bool {
	if !p.next(r) {
		return false
	}
	if r.Err == nil {
		p.parse(r)
	}
	return true
}

// NextRaw is Next without parsing: it returns the same records with Raw, Offset and Line
// only. r.Err is set only for a record over MaxRecord.
func (p *Parser) NextRaw(r *Record) bool { return p.next(r) }

// ParseRaw parses one record of a file again from the raw bytes that Next returned. It
// does not change r.Offset and r.Line.
func (p *Parser) ParseRaw(l Layout, raw []byte, r *Record) {
	p.kind, p.columns, p.encoding = l.kind, l.columns, l.encoding
	if l.kind.Format == JSONL {
		p.encoding = ofObject(raw)
	}
	r.Raw, r.Err = raw, nil
	p.parse(r)
}

// next cuts the next record off the block.
func (p *Parser) next(r *Record) bool {
	if p.kind.cut != nil {
		return p.kind.cut(p, r)
	}
	if p.block.whole {
		if p.done {
			return false
		}
		p.done = true
		p.cut(r, len(p.data), 0)
		return true
	}
	data := p.data
	if p.encoding.Wide() {
		data = p.narrow
	}
	for p.pos < len(data) {
		if data[p.pos] == '\n' && p.kind.blank != nil { // there may be very many blank ones
			p.pos++
			p.line++
			continue
		}
		n, count := p.length(data[p.pos:])
		blank := p.kind.blank != nil && p.kind.blank(data[p.pos:p.pos+n])
		if !blank {
			p.cut(r, n, p.line)
		}
		p.pos += n
		p.line += count
		if !blank {
			return true
		}
	}
	if p.block.tail && !p.done {
		p.done = true
		*r = Record{Offset: p.block.Offset + int64(len(p.data)), Line: p.line, Err: tooLong(p.o.MaxRecord)}
		return true
	}
	return false
}

// length returns the length of the record at the start of rest, and the number of its lines.
func (p *Parser) length(rest []byte) (n int, count int64) {
	if p.kind.quoted {
		limit := p.o.MaxRecord
		if p.encoding.Wide() {
			limit /= 2
		}
		n, _ = delimited.CSVRecord(rest, p.columns.Comma(), limit, true)
		return n, int64(max(1, bytes.Count(rest[:n], lines.End)))
	}
	if n = bytes.IndexByte(rest, '\n') + 1; n == 0 {
		n = len(rest)
	}
	return n, 1
}

// cut fills r with the n bytes at pos.
func (p *Parser) cut(r *Record, n int, line int64) {
	from, to := p.pos, p.pos+n
	if p.encoding.Wide() && !p.block.whole {
		from, to = 2*from, min(2*to, len(p.data))
	}
	*r = Record{Offset: p.block.Offset + int64(from), Line: line}
	if int64(to-from) > p.o.MaxRecord {
		r.Err = tooLong(p.o.MaxRecord)
		return
	}
	r.Raw = p.data[from:to:to]
}

// ofObject returns the encoding of a line that is an object of JSON: of two characters of ASCII at its start, UTF-16
// has one byte that is zero.
func ofObject(line []byte) bom.Encoding {
	switch {
	case len(line) < 2 || line[0] != 0 && line[1] != 0:
		return bom.None
	case line[0] == 0:
		return bom.UTF16BE
	}
	return bom.UTF16LE
}

// inUTF8 returns the record in UTF-8.
func (p *Parser) inUTF8(raw []byte) []byte {
	if !p.encoding.Wide() {
		return raw
	}
	p.decoded = p.encoding.Append(p.decoded[:0], raw)
	return p.decoded
}

// parse fills r from r.Raw.
func (p *Parser) parse(r *Record) {
	r.Text, r.ID, r.Fields, r.Encoding = nil, nil, nil, bom.None
	if p.kind.parse(p, r); p.watch != nil && r.Err == nil {
		p.watch.note(r)
	}
}

// parseLine makes a line the text of r.
func (p *Parser) parseLine(r *Record) {
	r.Text = bytes.TrimPrefix(lines.WithoutEnd(p.inUTF8(r.Raw)), lines.ByteOrderMark)
	r.Fields = p.noFields()
}

// parseText makes a file the text of r.
func (p *Parser) parseText(r *Record) {
	r.Text, r.Encoding = bom.Text(r.Raw)
	r.Fields = p.noFields()
}

// noFields returns Fields for a format without fields.
func (p *Parser) noFields() [][]byte {
	clear(p.fields)
	return p.fields
}

// parseRow fills r from a record of a table.
func (p *Parser) parseRow(r *Record) {
	if r.Text, r.ID, r.Err = p.row.Parse(p.columns, p.inUTF8(r.Raw), p.fields); r.Err == nil {
		r.Fields = p.fields
	}
}

func (p *Parser) parseJSON(r *Record) {
	for i := range p.vals {
		p.vals[i].Kind, p.vals[i].Val = jsonline.KindNone, nil
	}
	content := lines.WithoutEnd(p.inUTF8(r.Raw))
	line := bytes.TrimPrefix(content, lines.ByteOrderMark)
	if !p.json.Object(line, p.names, p.vals) {
		column := p.json.At + 1 + len(content) - len(line)
		r.Err = fault.Because(ErrMalformed, "malformed JSON at byte %d of the line: %s; correct or remove it", column, p.json.Why)
		return
	}
	for i := range p.nested {
		n := &p.nested[i]
		n.find(&p.json, &p.vals[n.at], &p.vals[n.outer])
	}
	if p.idAt >= 0 {
		if id := p.value(p.idAt); len(id) > 0 {
			r.ID = id
		}
	}
	if !p.o.NoText && !p.jsonText(r, line) {
		return
	}
	for i := range p.fields {
		p.fields[i] = p.value(p.fieldAt[i])
	}
	r.Fields = p.fields
}

// jsonText puts the text of an object into r, or the reason why there is none.
func (p *Parser) jsonText(r *Record, line []byte) bool {
	switch text := &p.vals[0]; text.Kind {
	case jsonline.KindString:
		r.Text = text.Val
		return true
	case jsonline.KindNone, jsonline.KindNull:
		r.Err = p.missingText(line, text.Kind)
	default:
		r.Err = fault.Because(ErrNotString, "field %q is %v, not a string; name the field with the text (%s)", p.o.TextField, text.Kind, setting.TextField)
	}
	return false
}

// value returns a wanted field, nil if absent or null.
func (p *Parser) value(at int) []byte {
	if v := &p.vals[at]; v.Kind != jsonline.KindNone && v.Kind != jsonline.KindNull {
		return v.Val
	}
	return nil
}

// missingText returns an error that lists the fields of the object instead of the text.
func (p *Parser) missingText(line []byte, k jsonline.Kind) error {
	if k == jsonline.KindNull {
		return fault.Because(ErrMissingField, "field %q is null; give it a text or remove the record", p.o.TextField)
	}
	return missingField(p.o.TextField, p.json.Keys(line))
}

// blankJSON reports whether a line is white space.
func blankJSON(line []byte) bool {
	return line[0] != '{' && jsonline.Blank(bytes.TrimPrefix(line, lines.ByteOrderMark))
}

// blankLine reports whether a line is empty.
func blankLine(line []byte) bool { return len(lines.WithoutEnd(line)) == 0 }

// nextFrame cuts the next row of a Parquet file off the block.
func (p *Parser) nextFrame(r *Record) bool {
	frame, long := rowframe.Cut(p.data[p.pos:])
	if len(frame) == 0 {
		return false
	}
	*r = Record{Offset: p.block.Offset + int64(p.pos), Line: p.line}
	if long {
		r.Err = tooLong(p.o.MaxRecord)
	} else {
		r.Raw = frame
	}
	p.pos += len(frame)
	p.line++
	return true
}

// parseFrame fills r from a row of a Parquet file.
func (p *Parser) parseFrame(r *Record) {
	rest := rowframe.Values(r.Raw)
	value := func() (v []byte) {
		var ok bool
		if v, rest, ok = rowframe.Next(rest); !ok {
			r.Err = fault.Because(ErrMalformed, "not a record of a Parquet file")
		}
		return v
	}
	if id := value(); len(id) > 0 {
		r.ID = id
	}
	for i := range p.fields {
		p.fields[i] = value()
	}
	r.Fields = p.fields
	r.Text = value()
	if r.Err == nil && r.Text == nil && !p.o.NoText {
		r.Err = fault.Because(ErrMissingField, "column %q is null; give it a text or remove the row", p.o.TextField)
	}
}

// wantNested adds the objects in which the wanted fields may lie.
func (p *Parser) wantNested() {
	for at, wanted := 0, len(p.names); at < wanted; at++ {
		if outer, rest, ok := bytes.Cut(p.names[at], dot); ok {
			p.nested = append(p.nested, nested{at: at, outer: p.want(string(outer)), rest: rest})
		}
	}
}
