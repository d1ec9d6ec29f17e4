package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/measure"
)

// linkColumn is a column of the output.
type linkColumn struct {
	name   string
	number bool // with six decimals, or "" where there is none
	bytes  bool // some value is not UTF-8
}

// linkFormat is what the links are written as.
func (f *joinFlags) linkFormat() (corpus.Format, error) {
	format, _, _ := corpus.NameFormat(f.output)
	switch {
	case (format == corpus.Parquet || format == corpus.TSV) && f.json:
		return "", usagef("--json and -o %s say two formats: leave one out", f.output)
	case format == corpus.Parquet || format == corpus.TSV:
		return format, nil
	case format == corpus.JSONL || f.json:
		return corpus.JSONL, nil
	}
	return corpus.CSV, nil
}

// writeLinks writes the links. ids are the names of the first two columns.
func writeLinks(out io.Writer, r *alike.JoinResult, ids, with []string, format corpus.Format, probability bool) error {
	columns := linkColumns(r, ids, with, probability)
	var rows linkWriter
	switch format {
	case corpus.Parquet:
		noteBytes(r, columns)
		rows = newParquetLinks(out, columns)
	case corpus.JSONL:
		rows = newJSONLinks(out, columns)
	default:
		w := csv.NewWriter(bufio.NewWriterSize(out, 1<<16))
		if format == corpus.TSV {
			w.Comma = '\t'
		}
		rows = newCSVLinks(w, columns)
	}
	var row []string
	for l := range r.Links.All() {
		row = appendLink(row[:0], &l, probability)
		if err := rows.write(row); err != nil {
			return err
		}
	}
	return rows.close()
}

// linkColumns returns the columns of the output. Each has a name of its own: a column of a
// table that is called as one before it has field_ in front.
func linkColumns(r *alike.JoinResult, ids, with []string, probability bool) (columns []linkColumn) {
	add := func(name string, number bool) {
		for slices.ContainsFunc(columns, func(c linkColumn) bool { return c.name == name }) {
			name = "field_" + name
		}
		columns = append(columns, linkColumn{name: name, number: number})
	}
	for _, id := range ids {
		add(id, false)
	}
	add("similarity", true)
	for _, c := range r.Columns {
		add(c.Left, true)
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

// appendLink appends what the columns of a link hold.
func appendLink(row []string, l *alike.Link, probability bool) []string {
	row = append(row, string(l.A), string(l.B), decimals(l.Similarity))
	for _, s := range l.Fields {
		if s < 0 {
			row = append(row, "")
		} else {
			row = append(row, decimals(s))
		}
	}
	if probability {
		row = append(row, decimals(l.Probability))
	}
	for i := range l.WithA {
		row = append(row, string(l.WithA[i]), string(l.WithB[i]))
	}
	return row
}

func decimals(similarity float64) string { return string(measure.AppendSimilarity(nil, similarity)) }

// noteBytes finds the columns with values that are not UTF-8.
func noteBytes(r *alike.JoinResult, columns []linkColumn) {
	note := func(column int, value []byte) {
		columns[column].bytes = columns[column].bytes || !utf8.Valid(value)
	}
	for l := range r.Links.All() {
		note(0, l.A)
		note(1, l.B)
		with := len(columns) - 2*len(l.WithA)
		for j := range l.WithA {
			note(with+2*j, l.WithA[j])
			note(with+2*j+1, l.WithB[j])
		}
	}
}

// linkWriter writes rows of the output.
type linkWriter interface {
	write(row []string) error
	close() error // after the last row
}

// csvLinks writes CSV or TSV. Values that are not UTF-8 stand there as they are.
type csvLinks struct{ *csv.Writer }

func newCSVLinks(w *csv.Writer, columns []linkColumn) csvLinks {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	_ = w.Write(names) // close tells of errors
	return csvLinks{w}
}

func (c csvLinks) write(row []string) error { return c.Write(row) }

func (c csvLinks) close() error {
	c.Flush()
	return c.Error()
}

// jsonLinks writes an object a line. A value that is not UTF-8 has its bytes as base64 in a
// field of the same name with _bytes.
type jsonLinks struct {
	*bufio.Writer
	columns []linkColumn
	keys    []jsonKeys // of each column
}

// jsonKeys are the names of a column as they stand in an object, and that of its bytes.
type jsonKeys struct{ value, bytes []byte }

func newJSONLinks(out io.Writer, columns []linkColumn) *jsonLinks {
	j := &jsonLinks{Writer: bufio.NewWriterSize(out, 1<<16), columns: columns}
	for _, c := range columns {
		j.keys = append(j.keys, jsonKeys{marshalled(c.name), marshalled(c.name + "_bytes")})
	}
	return j
}

// marshalled returns a text, number, nil or bytes, which JSON can always hold.
func marshalled(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func (j *jsonLinks) write(row []string) error {
	lead := byte('{')
	field := func(key []byte, value any) { // the last write tells of errors
		fmt.Fprintf(j, "%c%s:%s", lead, key, marshalled(value))
		lead = ','
	}
	for i, value := range row {
		key := j.keys[i]
		switch {
		case j.columns[i].number && value == "":
			field(key.value, nil)
		case j.columns[i].number:
			field(key.value, json.Number(value))
		default:
			field(key.value, value)
			if raw := rawID([]byte(value)); raw != nil {
				field(key.bytes, raw)
			}
		}
	}
	_, err := j.WriteString("}\n")
	return err
}

func (j *jsonLinks) close() error { return j.Flush() }
