package tagging

import (
	"bytes"
	"slices"
	"strings"

	"github.com/alike-dev/alike/internal/parquetfile"
)

// A RowTagger makes the columns of tags for a Parquet file.
type RowTagger struct {
	columns []parquetfile.Column // ordered by name
	at      []int                // of each field, its column
}

// Rows returns the tagger of a Parquet file, for the fields of Duplicates.
func (f *Fields) Rows() *RowTagger {
	sorted := slices.Sorted(slices.Values(f.Names))
	r := &RowTagger{columns: make([]parquetfile.Column, len(sorted))}
	for i, name := range f.Names {
		at := slices.Index(sorted, name)
		r.columns[at] = []parquetfile.Column{
			{}, {Kind: parquetfile.Integer}, {Levels: 1}, {Kind: parquetfile.Double, Levels: 1}, {Levels: 1},
		}[i]
		r.columns[at].Name = name
		r.at = append(r.at, at)
	}
	return r
}

// File returns a Parquet file with the tags of rows; of is called for each in order.
func (r *RowTagger) File(rows []int64, of func(row int64) (Tag, error)) ([]byte, error) {
	var out bytes.Buffer
	w := parquetfile.NewWriter(&out, "tags", r.columns, len(rows)+1)
	for _, row := range rows {
		t, err := of(row)
		if err != nil {
			return nil, err
		}
		r.add(w, &t)
		if err := w.Row(); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// add adds a tag as a row. What is not UTF-8 in a name becomes U+FFFD, as in JSON.
func (r *RowTagger) add(w *parquetfile.Writer, t *Tag) {
	text := func(field int, s string) { w.Bytes(r.at[field], []byte(strings.ToValidUTF8(s, "\ufffd"))) }
	text(0, t.Cluster)
	w.Integer(r.at[1], int64(t.Size))
	if !t.Duplicate {
		for _, at := range r.at[2:] {
			w.Null(at)
		}
		return
	}
	text(2, t.Of)
	w.Double(r.at[3], t.Similarity)
	if len(r.at) > 4 { // with references
		text(4, t.In)
	}
}
