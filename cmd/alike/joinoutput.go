package main

import (
	"context"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/linkage"
)

// listFormat is the format in which a list is written to the file that a flag names.
func listFormat(flag, name string, asJSON bool) (corpus.Format, error) {
	if err := checkEnding(flag, name, withJSON(linkEndings, asJSON)); err != nil {
		return "", err
	}
	base, _ := endingOf(name)
	switch format, _, named := corpus.NameFormat(base); {
	case named && format != corpus.JSONL && asJSON:
		return "", errTwoFormats(name)
	case named:
		return format, nil
	case asJSON:
		return corpus.JSONL, nil
	}
	return corpus.CSV, nil
}

// writeRows writes n rows of a table.
func writeRows(out io.Writer, columns []linklist.Column, format corpus.Format, n int, row func(i int) []string) error {
	var w linklist.Writer
	if format == corpus.Parquet {
		bytes := make([]bool, len(columns))
		for i := range n {
			for j, value := range row(i) {
				bytes[j] = bytes[j] || !utf8.ValidString(value)
			}
		}
		w = linklist.NewParquet(out, columns, bytes)
	} else {
		if err := linklist.WriteHeader(out, linklist.Format(format), columns); err != nil {
			return err
		}
		w = linklist.New(out, linklist.Format(format), columns)
	}
	for i := range n {
		if err := w.Write(row(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeLinks writes links. ids are the names of the first two columns, compared those whose similarities follow.
func writeLinks(ctx context.Context, out io.Writer, links iter.Seq[linkage.Link], compared []linkage.Column, ids, with []string,
	format corpus.Format, probability bool,
) error {
	var names []string
	for _, c := range compared {
		name, _ := c.Names()
		names = append(names, name)
	}
	columns := linklist.Columns(ids, names, probability, with)
	var rows linklist.Writer
	if format == corpus.Parquet {
		bytes, err := bytesColumns(ctx, links, len(columns))
		if err != nil {
			return err
		}
		rows = linklist.NewParquet(out, columns, bytes)
	} else {
		if err := linklist.WriteHeader(out, linklist.Format(format), columns); err != nil {
			return err
		}
		rows = linklist.New(out, linklist.Format(format), columns)
	}
	var row []string
	for l := range links {
		if err := ctx.Err(); err != nil { // a writer may hold what it is given
			return err
		}
		row = l.AppendRow(row[:0], probability)
		if err := rows.Write(row); err != nil {
			return err
		}
	}
	return rows.Flush()
}

// bytesColumns tells which columns have values that are not UTF-8.
func bytesColumns(ctx context.Context, links iter.Seq[linkage.Link], columns int) ([]bool, error) {
	bytes := make([]bool, columns)
	note := func(column int, value []byte) { bytes[column] = bytes[column] || !utf8.Valid(value) }
	for l := range links {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		note(0, l.A)
		note(1, l.B)
		with := columns - 2*len(l.WithA)
		for j := range l.WithA {
			note(with+2*j, l.WithA[j])
			note(with+2*j+1, l.WithB[j])
		}
	}
	return bytes, nil
}
