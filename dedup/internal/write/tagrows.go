package write

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/dedup/internal/doctable"
)

// A rowTagger makes the columns of tags for a Parquet file.
type rowTagger struct {
	*tagger
	names  []string // in the order of TagNames, perhaps with TagIn
	schema *parquet.Schema
	at     []int // of each name, its column: those of a schema are ordered by name
	lines  *doctable.Cursor
	doc    uint32 // the next one
	end    uint32
}

// newRowTagger returns the tagger of the documents from first to end. The caller closes it.
func (k *keptWriter) newRowTagger(first, end uint32) *rowTagger {
	group := parquet.Group{}
	for i, name := range k.Tags.Names {
		group[name] = [...]parquet.Node{
			parquet.String(), parquet.Leaf(parquet.Int64Type), parquet.Optional(parquet.String()),
			parquet.Optional(parquet.Leaf(parquet.DoubleType)), parquet.Optional(parquet.String()),
		}[i]
	}
	r := &rowTagger{tagger: k.newTagger(first), names: k.Tags.Names, schema: parquet.NewSchema("tags", group), lines: k.Table.Scanner(), doc: first, end: end}
	for _, name := range r.names {
		leaf, _ := r.schema.Lookup(name)
		r.at = append(r.at, leaf.ColumnIndex)
	}
	return r
}

// rows returns a Parquet file with the tags of rows, which are kept documents of the file, ascending from call to call.
func (r *rowTagger) rows(rows []int64) ([]byte, error) {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, r.schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(int64(len(rows))+1))
	batch := make([]parquet.Row, 0, tagBatch)
	for i, row := range rows {
		for r.doc < r.end && r.lines.Line(r.doc)-1 < row {
			r.doc++
		}
		if r.doc == r.end || r.lines.Err != nil || r.lines.Line(r.doc)-1 != row {
			return nil, fmt.Errorf("row %d is no document: %w", row, r.lines.Err)
		}
		g, err := r.of(r.doc)
		if err != nil {
			return nil, err
		}
		if batch = append(batch, r.row(&g)); len(batch) == tagBatch || i == len(rows)-1 {
			if _, err := w.WriteRows(batch); err != nil {
				return nil, err
			}
			batch = batch[:0]
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// tagBatch is how many rows are written at once.
const tagBatch = 1 << 10

// row returns a tag as a row. What is not UTF-8 in a name becomes U+FFFD, as in JSON.
func (r *rowTagger) row(g *tag) parquet.Row {
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(s, "\ufffd"))) }
	values := []parquet.Value{text(g.cluster), parquet.Int64Value(int64(g.size)), parquet.NullValue(), parquet.NullValue(), parquet.NullValue()}
	defined := 0
	if g.duplicate {
		values[2], values[3], values[4], defined = text(g.of), parquet.DoubleValue(g.similarity), text(g.in), 1
	}
	row := make(parquet.Row, len(r.names))
	for i := range r.names {
		level := 0
		if i >= 2 {
			level = defined
		}
		row[r.at[i]] = values[i].Level(0, level, r.at[i])
	}
	return row
}
