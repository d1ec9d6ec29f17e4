package alike

import (
	"context"
	"errors"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/linkage"
	"github.com/alike-dev/alike/report"
)

// DescribeFound reads inputs again for the page about pairs of their documents: where these stand, the values of by, a
// field of records ("": none), and the texts that the page shows. b says that they are the second of two collections.
// Streams cannot be read again, and records that cannot be read are left out. O(bytes of inputs).
func DescribeFound(ctx context.Context, f *report.Found, inputs []string, b bool, o corpus.Options, by string) error {
	o.Visit = nil
	if by != "" {
		o.Fields = []string{by}
	}
	var name []byte
	return eachRead(ctx, inputs, o, func(s corpus.Source, r *corpus.Record, line, _ int64) {
		id := r.ID
		if id == nil {
			name = s.AppendID(name[:0], line)
			id = name
		}
		doc, wanted, ok := f.Find(b, id)
		if !ok {
			return
		}
		var value, text []byte
		if len(r.Fields) > 0 {
			value = r.Fields[0]
		}
		if wanted && !o.NoText {
			text = r.Text
		}
		f.Describe(doc, s.Label(), value, text)
	})
}

// DescribeRecords is DescribeFound for the records of a table, whose text is their columns; id is as in JoinConfig.
func DescribeRecords(ctx context.Context, f *report.Found, table, id string, b bool, o corpus.Options, by string) error {
	columns, idColumn, err := linkage.Columns(ctx, table, id, o)
	if err != nil {
		return err
	}
	return describeRows(ctx, f, described{table, "", columns, idColumn, b}, o, by)
}

// DescribeEntities is DescribeRecords for the tables of FindEntities, of which some have a column id.
func DescribeEntities(ctx context.Context, f *report.Found, tables []string, id string, o corpus.Options, by string) error {
	stack := linkage.Stack{ID: id, Corpus: o}
	for _, table := range tables {
		columns, idColumn, err := stack.Columns(ctx, table)
		if err == nil {
			err = describeRows(ctx, f, described{table, table + ":", columns, idColumn, false}, o, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// described is a table whose rows are described.
type described struct {
	table   string
	prefix  string // of the names of its records
	columns []string
	id      string
	b       bool
}

func describeRows(ctx context.Context, f *report.Found, d described, o corpus.Options, by string) error {
	columns := d.columns
	o.Visit, o.NoText, o.IDField, o.Fields = nil, true, corpus.NoID, columns
	at, group := -1, -1
	for i, c := range columns {
		if c == d.id {
			at = i
		}
		if c == by {
			group = i
		}
	}
	name := []byte(d.prefix)
	return eachRead(ctx, []string{d.table}, o, func(s corpus.Source, r *corpus.Record, _, n int64) {
		if name = name[:len(d.prefix)]; at >= 0 {
			name = append(name, r.Fields[at]...)
		}
		if len(name) == len(d.prefix) {
			name = strconv.AppendInt(name, n, 10)
		}
		doc, wanted, ok := f.Find(d.b, name)
		if !ok {
			return
		}
		var value, text []byte
		if group >= 0 {
			value = r.Fields[group]
		}
		if wanted {
			for i, c := range columns {
				if len(r.Fields[i]) > 0 {
					text = append(append(append(append(text, c...), ": "...), r.Fields[i]...), '\n')
				}
			}
		}
		f.Describe(doc, s.Label(), value, text)
	})
}

// eachRead visits the records of inputs that can be read, in order, with their line in the file, from 0 on, and their number
// in the inputs, from 1 on.
func eachRead(ctx context.Context, inputs []string, o corpus.Options, visit func(s corpus.Source, r *corpus.Record, line, n int64)) error {
	sources, _, err := corpus.Find(ctx, inputs, o)
	if err != nil {
		return err
	}
	var n int64
	for _, s := range sources {
		if s.Stream {
			continue
		}
		_, err := corpus.EachRecord(ctx, s, o, func(r *corpus.Record) (more bool, err error) {
			if r.Err == nil {
				n++
				visit(s, r, r.Line-1, n)
			}
			return true, nil
		})
		if problem := (*corpus.Problem)(nil); err != nil && !errors.As(err, &problem) {
			return err
		}
	}
	return ctx.Err()
}
