package main

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// parquetLinks writes Parquet: a text is a string, of bytes where some value of its column is
// not UTF-8; a number is a double, null where there is none.
type parquetLinks struct {
	w       *parquet.GenericWriter[any]
	columns []linkColumn
	rows    []parquet.Row // that are not written yet
}

// Rows of a call to the writer, and of a row group.
const (
	parquetBatch = 1 << 10
	parquetGroup = 1 << 20
)

func newParquetLinks(out io.Writer, columns []linkColumn) *parquetLinks {
	g := orderedGroup{Group: parquet.Group{}, place: map[string]int{}}
	for i, c := range columns {
		g.place[c.name] = i
		switch {
		case c.number:
			g.Group[c.name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		case c.bytes:
			g.Group[c.name] = parquet.Leaf(parquet.ByteArrayType)
		default:
			g.Group[c.name] = parquet.String()
		}
	}
	w := parquet.NewGenericWriter[any](out, parquet.NewSchema("links", g), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup))
	return &parquetLinks{w: w, columns: columns}
}

// orderedGroup is a group whose fields are in an order of their own; those of a Group are in
// that of their names.
type orderedGroup struct {
	parquet.Group
	place map[string]int
}

func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(g.place[a.Name()], g.place[b.Name()]) })
	return fields
}

func (p *parquetLinks) write(row []string) error {
	values := make(parquet.Row, len(row))
	for i, text := range row {
		switch {
		case !p.columns[i].number:
			values[i] = parquet.ByteArrayValue([]byte(text)).Level(0, 0, i)
		case text == "":
			values[i] = parquet.NullValue().Level(0, 0, i)
		default:
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			values[i] = parquet.DoubleValue(x).Level(0, 1, i)
		}
	}
	if p.rows = append(p.rows, values); len(p.rows) == parquetBatch {
		return p.flush()
	}
	return nil
}

func (p *parquetLinks) flush() error {
	_, err := p.w.WriteRows(p.rows)
	p.rows = p.rows[:0]
	return err
}

func (p *parquetLinks) close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.w.Close()
}
