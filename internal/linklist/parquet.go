package linklist

import (
	"fmt"
	"io"

	"github.com/alike-dev/alike/internal/parquetfile"
)

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
