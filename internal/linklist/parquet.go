package linklist

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// parquetLinks writes Parquet: a text is a string, or bytes if some value of its column is not
// UTF-8; a number is a double, null if there is none.
type parquetLinks struct {
	w       *parquet.GenericWriter[any]
	columns []Column
	rows    []parquet.Row // not written yet
}

// ParquetBatch is how many rows a call to the writer of Parquet has; tests write as many, and more.
const ParquetBatch = 1 << 10

// parquetGroup is how many rows a row group has.
const parquetGroup = 1 << 20

// NewParquet returns a writer of a whole file of Parquet. bytes marks the columns with texts that are not UTF-8.
func NewParquet(out io.Writer, columns []Column, bytes []bool) Writer {
	g := orderedGroup{Group: parquet.Group{}, place: map[string]int{}}
	for i, c := range columns {
		g.place[c.Name] = i
		switch {
		case c.Number:
			g.Group[c.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		case bytes[i]:
			g.Group[c.Name] = parquet.Leaf(parquet.ByteArrayType)
		default:
			g.Group[c.Name] = parquet.String()
		}
	}
	w := parquet.NewGenericWriter[any](out, parquet.NewSchema("links", g), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup))
	return &parquetLinks{w: w, columns: columns}
}

// orderedGroup is a group whose fields have an order of their own; a Group orders them by name.
type orderedGroup struct {
	parquet.Group
	place map[string]int
}

func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(g.place[a.Name()], g.place[b.Name()]) })
	return fields
}

// Write implements Writer.
func (p *parquetLinks) Write(row []string) error {
	values := make(parquet.Row, len(row))
	for i, text := range row {
		switch {
		case !p.columns[i].Number:
			values[i] = parquet.ByteArrayValue([]byte(text)).Level(0, 0, i)
		case text == "":
			values[i] = parquet.NullValue().Level(0, 0, i)
		default:
			x, err := number(text)
			if err != nil {
				return fmt.Errorf("column %s: %w", p.columns[i].Name, err)
			}
			values[i] = parquet.DoubleValue(x).Level(0, 1, i)
		}
	}
	if p.rows = append(p.rows, values); len(p.rows) == ParquetBatch {
		return p.send()
	}
	return nil
}

func (p *parquetLinks) send() error {
	_, err := p.w.WriteRows(p.rows)
	p.rows = p.rows[:0]
	return err
}

// Flush implements Writer.
func (p *parquetLinks) Flush() error {
	if err := p.send(); err != nil {
		return err
	}
	return p.w.Close()
}
