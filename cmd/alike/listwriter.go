package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
)

// listWriter writes a list as CSV with a header, or as lines of JSON.
type listWriter struct {
	buffer *bufio.Writer
	rows   *csv.Writer // nil: JSON
	json   *json.Encoder
}

func newListWriter(w io.Writer, asJSON bool, header []string) listWriter {
	l := listWriter{buffer: bufio.NewWriterSize(w, 1<<16)}
	if asJSON {
		l.json = json.NewEncoder(l.buffer)
		l.json.SetEscapeHTML(false)
		return l
	}
	l.rows = csv.NewWriter(l.buffer)
	_ = l.rows.Write(header) // flush returns its error
	return l
}

func (l *listWriter) flush() error {
	if l.rows != nil {
		l.rows.Flush()
		if err := l.rows.Error(); err != nil {
			return err
		}
	}
	return l.buffer.Flush()
}
