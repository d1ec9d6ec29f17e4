// Package linklist writes lists of links, a row of strings at a time, as CSV, TSV or JSON lines.
package linklist

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/parquetfile"
)

type Column struct {
	Name   string
	Number bool // with six decimals, or "" without a value
}

// Add appends a column. If an earlier column has the same name, the new one gets the prefix field_.
func Add(columns []Column, name string, number bool) []Column {
	for slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name }) {
		name = "field_" + name
	}
	return append(columns, Column{name, number})
}

// Columns returns the columns of a list of links: ids, the similarity, the similarity of each compared column,
// the probability if it is asked for, and the columns of either side that are passed through.
func Columns(ids, compared []string, probability bool, with []string) (columns []Column) {
	add := func(name string, number bool) { columns = Add(columns, name, number) }
	for _, id := range ids {
		add(id, false)
	}
	add("similarity", true)
	for _, name := range compared {
		add(name, true)
	}
	if probability {
		add("probability", true)
	}
	for _, name := range with {
		add("left_"+name, false)
		add("right_"+name, false)
	}
	return columns
}

func Names(columns []Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// Format is how a list is written.
type Format string

const (
	CSV   Format = "csv"
	TSV   Format = "tsv"
	JSONL Format = "jsonl"
	// Packed is for tasks that hand rows to each other: a row is its values, each behind its length. See Unpack.
	Packed Format = "packed"
)

type Writer interface {
	Write(row []string) error
	Flush() error // after the last row
}

// New returns a writer of rows, without a header.
func New(out io.Writer, f Format, columns []Column) Writer {
	switch f {
	case JSONL:
		return newJSON(out, columns)
	case Packed:
		return packer{out}
	}
	w := csv.NewWriter(bufio.NewWriterSize(out, 1<<16))
	if f == TSV {
		w.Comma = '\t'
	}
	return &rows{w}
}

// WriteHeader writes the names of the columns, where the format has a line for them.
func WriteHeader(out io.Writer, f Format, columns []Column) error {
	if f == JSONL || f == Packed {
		return nil
	}
	w := New(out, f, columns)
	if err := w.Write(Names(columns)); err != nil {
		return err
	}
	return w.Flush()
}

// rows writes CSV or TSV. Values that are not UTF-8 are written unchanged.
type rows struct{ *csv.Writer }

func (r *rows) Flush() error {
	r.Writer.Flush()
	return r.Error()
}

// objects writes one object a line. A value that is not UTF-8 is written as base64 in a field whose name has the
// suffix _bytes.
type objects struct {
	out     *bufio.Writer
	columns []Column
	keys    []keys // of each column
}

// keys are the encoded name of a column, and the name of its base64 form.
type keys struct{ value, bytes []byte }

func newJSON(out io.Writer, columns []Column) *objects {
	o := &objects{out: bufio.NewWriterSize(out, 1<<16), columns: columns}
	for _, c := range columns {
		o.keys = append(o.keys, keys{marshalled(c.Name), marshalled(c.Name + "_bytes")})
	}
	return o
}

// marshalled returns a text, nil or bytes as JSON, which never fails.
func marshalled(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// number returns the number that a text stands for. One that is not finite is an error: JSON has none, and readers of
// Parquet disagree about them.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = fmt.Errorf("%s is not a finite number", text)
	}
	return x, err
}

// Write implements Writer.
func (o *objects) Write(row []string) error {
	lead := byte('{')
	field := func(key, value []byte) { // the last write returns errors of earlier ones
		fmt.Fprintf(o.out, "%c%s:%s", lead, key, value)
		lead = ','
	}
	for i, value := range row {
		key := o.keys[i]
		switch {
		case o.columns[i].Number && value == "":
			field(key.value, marshalled(nil))
		case o.columns[i].Number:
			if _, err := number(value); err != nil {
				return fmt.Errorf("column %s: %w", o.columns[i].Name, err)
			}
			field(key.value, []byte(value))
		default:
			field(key.value, marshalled(value))
			if !utf8.ValidString(value) {
				field(key.bytes, marshalled([]byte(value)))
			}
		}
	}
	_, err := o.out.WriteString("}\n")
	return err
}

// Flush implements Writer.
func (o *objects) Flush() error { return o.out.Flush() }

type packer struct{ to io.Writer }

// Write implements Writer.
func (p packer) Write(row []string) error {
	var b []byte
	for _, value := range row {
		b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	}
	_, err := p.to.Write(b)
	return err
}

// Flush implements Writer.
func (p packer) Flush() error { return nil }

// Unpack reads a packed row of len(row) values.
func Unpack(row []string, packed []byte) error {
	for i := range row {
		n, at := binary.Uvarint(packed)
		if at <= 0 || n > uint64(len(packed)-at) {
			return errPacked
		}
		row[i], packed = string(packed[at:][:n]), packed[at:][n:]
	}
	if len(packed) > 0 {
		return errPacked
	}
	return nil
}

var errPacked = errors.New("not a row of a list of links")

// parquetLinks writes Parquet: a text is a string, or bytes if some value of its column is not
// UTF-8; a number is a double, null if there is none.
type parquetLinks struct {
	w       *parquetfile.Writer
	columns []Column
}

// parquetGroup is how many rows a row group has.
const parquetGroup = 1 << 20

// NewParquet returns a writer of a whole file of Parquet. bytes marks the columns with texts that are not UTF-8.
func NewParquet(out io.Writer, columns []Column, bytes []bool) Writer {
	var all []parquetfile.Column
	for i, c := range columns {
		column := parquetfile.Column{Name: c.Name}
		switch {
		case c.Number:
			column.Kind, column.Levels = parquetfile.Double, 1
		case bytes[i]:
			column.Kind = parquetfile.Bytes
		}
		all = append(all, column)
	}
	return &parquetLinks{parquetfile.NewWriter(out, "links", all, parquetGroup), columns}
}

// Write implements Writer.
func (p *parquetLinks) Write(row []string) error {
	for i, text := range row {
		switch {
		case !p.columns[i].Number:
			p.w.Bytes(i, []byte(text))
		case text == "":
			p.w.Null(i)
		default:
			x, err := number(text)
			if err != nil {
				return fmt.Errorf("column %s: %w", p.columns[i].Name, err)
			}
			p.w.Double(i, x)
		}
	}
	return p.w.Row()
}

// Flush implements Writer.
func (p *parquetLinks) Flush() error { return p.w.Close() }
