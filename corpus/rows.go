package corpus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
)

// maxList is the most bytes of a list of rows without names.
const maxList = 1 << 40

// Rows returns all rows of a list that fits in memory: pairs, labels, places. It has the format and compression of its
// name, CSV if that says none. Rows of CSV and TSV have any number of cells, and the first one may be a header or not; they
// may come from a pipe. In JSON Lines and Parquet columns have names: named is true, and the first row has these, those of the
// first of pairs that the list has before the others. Every row has values for the first two. The error is a *Problem.
func Rows(ctx context.Context, path string, pairs ...[2]string) (rows [][]string, named bool, err error) {
	format, compression, _ := NameFormat(path)
	if format == JSONL || format == Parquet {
		rows, err = namedRows(ctx, path, pairs)
		return rows, true, err
	}
	var data []byte
	if compression == Plain {
		data, err = os.ReadFile(path)
		if err != nil {
			return nil, false, openError(path, err)
		}
		data, _ = bom.Text(data)
	} else if data, err = decoded(ctx, path); err != nil {
		return nil, false, err
	}
	rows, line, err := delimited.All(data, format == TSV)
	if err != nil {
		return nil, false, &Problem{Path: path, Line: int64(line), Err: err}
	}
	return rows, false, nil
}

// decoded returns what is in a compressed file, as UTF-8.
func decoded(ctx context.Context, path string) (data []byte, err error) {
	o := Options{Format: Text, MaxRecord: maxList}
	sources, err := all(ctx, path, o)
	if err == nil {
		err = each(ctx, sources, o, func(_ string, r *Record) error {
			data = bytes.Clone(r.Text)
			return nil
		})
	}
	return data, err
}

// namedRows is Rows for formats whose columns have names.
func namedRows(ctx context.Context, path string, pairs [][2]string) (rows [][]string, err error) {
	o := Options{NoText: true, IDField: NoID}
	sources, err := all(ctx, path, o)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		names, err := Columns(ctx, s, o)
		if err != nil {
			return nil, err
		}
		o.Fields = append(o.Fields, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(o.Fields, name) })...)
	}
	for _, pair := range pairs {
		if slices.Contains(o.Fields, pair[0]) && slices.Contains(o.Fields, pair[1]) {
			others := slices.DeleteFunc(o.Fields, func(name string) bool { return name == pair[0] || name == pair[1] })
			o.Fields = slices.Concat(pair[:], others)
			break
		}
	}
	if len(o.Fields) > 0 {
		rows = append(rows, o.Fields)
	}
	err = each(ctx, sources, o, func(path string, r *Record) error {
		row := make([]string, len(o.Fields))
		for i, v := range r.Fields {
			if v == nil && i < 2 {
				return &Problem{Path: path, Line: r.Line, Err: fault.Because(ErrMissingField, "no field %q; correct or remove the record", o.Fields[i])}
			}
			row[i] = string(v)
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// all returns the sources of an input, of which none may be skipped.
func all(ctx context.Context, input string, o Options) ([]Source, error) {
	sources, skipped, err := Find(ctx, []string{input}, o)
	if err == nil && len(skipped) > 0 {
		err = &skipped[0]
	}
	return sources, err
}

// each calls visit for each record, until it returns an error. The first record that cannot be read is one.
func each(ctx context.Context, sources []Source, o Options, visit func(path string, r *Record) error) error {
	for _, s := range sources {
		if _, err := EachRecord(ctx, s, o, func(r *Record) (more bool, err error) {
			if r.Err != nil {
				return false, &Problem{Path: s.Path, Line: r.Line, Err: r.Err}
			}
			return true, visit(s.Path, r)
		}); err != nil {
			return err
		}
	}
	return nil
}

// EachRecord reads a source on one goroutine. It calls visit for each record, those included that cannot be read, with its line in
// the file, from 1 on, and tells whether more records are wanted. A record is valid until visit returns.
func EachRecord(ctx context.Context, s Source, o Options, visit func(*Record) (more bool, err error)) (more bool, err error) {
	f, err := Open(ctx, s, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p := NewParser(o)
	var b Block
	defer b.Release()
	for line := int64(1); ; line += b.Lines {
		if err := f.Next(&b); err == io.EOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		p.Start(f, &b)
		for r := (Record{}); p.Next(&r); {
			r.Line += line
			if more, err := visit(&r); !more || err != nil {
				return false, err
			}
		}
	}
}
