package tagging

import (
	"bytes"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// A RowTagger makes the columns of tags for a Parquet file.
type RowTagger struct {
	schema *parquet.Schema
	at     []int // of each field, its column: those of a schema are ordered by name
}

// Rows returns the tagger of a Parquet file, for the fields of Duplicates.
func (f *Fields) Rows() *RowTagger {
	group := parquet.Group{}
	for i, name := range f.Names {
		group[name] = [...]parquet.Node{
			parquet.String(), parquet.Leaf(parquet.Int64Type), parquet.Optional(parquet.String()),
			parquet.Optional(parquet.Leaf(parquet.DoubleType)), parquet.Optional(parquet.String()),
		}[i]
	}
	r := &RowTagger{schema: parquet.NewSchema("tags", group)}
	for _, name := range f.Names {
		leaf, _ := r.schema.Lookup(name)
		r.at = append(r.at, leaf.ColumnIndex)
	}
	return r
}

// File returns a Parquet file with the tags of rows; of is called for each in order.
func (r *RowTagger) File(rows []int64, of func(row int64) (Tag, error)) ([]byte, error) {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, r.schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(int64(len(rows))+1))
	batch := make([]parquet.Row, 0, rowBatch)
	for i, row := range rows {
		t, err := of(row)
		if err != nil {
			return nil, err
		}
		if batch = append(batch, r.row(&t)); len(batch) == rowBatch || i == len(rows)-1 {
			if _, err := w.WriteRows(batch); err != nil {
				return nil, err
			}
			batch = batch[:0]
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// rowBatch is how many rows are written at once.
const rowBatch = 1 << 10

// row returns a tag as a row. What is not UTF-8 in a name becomes U+FFFD, as in JSON.
func (r *RowTagger) row(t *Tag) parquet.Row {
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(s, "\ufffd"))) }
	values := []parquet.Value{text(t.Cluster), parquet.Int64Value(int64(t.Size)), parquet.NullValue(), parquet.NullValue(), parquet.NullValue()}
	defined := 0
	if t.Duplicate {
		values[2], values[3], values[4], defined = text(t.Of), parquet.DoubleValue(t.Similarity), text(t.In), 1
	}
	row := make(parquet.Row, len(r.at))
	for i, at := range r.at {
		level := 0
		if i >= 2 {
			level = defined
		}
		row[at] = values[i].Level(0, level, at)
	}
	return row
}
