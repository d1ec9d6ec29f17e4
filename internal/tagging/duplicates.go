package tagging

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/parquetfile"
	"github.com/alike-dev/alike/measure"
)

// duplicateNames are the fields that say of a record what would be removed.
var duplicateNames = []string{"cluster", "cluster_size", "duplicate_of", "similarity"}

// duplicateIn is one more beside references: the file of the document in duplicate_of.
const duplicateIn = "duplicate_in"

func Duplicates(prefix string, references bool) *Fields {
	names := duplicateNames
	if references {
		names = append(names[:len(names):len(names)], duplicateIn)
	}
	return New(prefix, names...)
}

// Carry tells whether records of a format can have more fields.
func Carry(f corpus.Format) bool { return f != corpus.Text && f != corpus.Lines }

// FreeFile is an error if a file has a column with the name of one of the fields.
func (f *Fields) FreeFile(in *corpus.File) error {
	if err := f.FreeColumns(in.Columns()); err != nil {
		s := in.Source()
		return fmt.Errorf("%s: %w", fault.Shown(s.Label()), err)
	}
	return nil
}

// FreeRecord is an error if a record of a file of JSON has one of the fields.
func (f *Fields) FreeRecord(in *corpus.File, r *corpus.Record) error {
	s := in.Source()
	if r.Err != nil || s.Format != corpus.JSONL {
		return nil
	}
	raw := r.Raw
	if e := in.Encoding(); e.Wide() {
		raw = e.Append(nil, raw)
	}
	if err := f.FreeObject(raw); err != nil {
		return fmt.Errorf("%s, the record at byte %d: %w", fault.Shown(s.Label()), r.Offset, err)
	}
	return nil
}

// A Tag says of a document which cluster it is in, and whether it would be removed.
type Tag struct {
	Cluster    string // name of the cluster's first document
	Size       uint64
	Duplicate  bool // the rest is set
	Of, In     string
	Similarity float64
}

// Values appends the tag as values of the fields of Duplicates: as cells of a table, in which what is null is empty, or as
// JSON.
func (f *Fields) Values(dst [][]byte, t *Tag, json bool) [][]byte {
	text := func(s string) []byte { return []byte(s) }
	var of, in, similarity []byte
	if json {
		text = func(s string) []byte { return AppendJSON(nil, []byte(s)) }
		of, in, similarity = []byte("null"), []byte("null"), []byte("null")
	}
	if t.Duplicate {
		of, in, similarity = text(t.Of), text(t.In), measure.AppendSimilarity(nil, t.Similarity)
	}
	return append(dst, text(t.Cluster), strconv.AppendUint(nil, t.Size, 10), of, similarity, in)[:len(dst)+len(f.Names)]
}

// A RecordTagger adds tags to the records of one open file.
type RecordTagger struct {
	fields   *Fields
	json     bool
	comma    byte
	encoding corpus.Encoding
	values   [][]byte
	out      []byte
}

// Records returns the tagger of a file of which a block was read.
func (f *Fields) Records(in *corpus.File) *RecordTagger {
	return &RecordTagger{fields: f, encoding: in.Encoding(), json: in.Source().Format == corpus.JSONL, comma: in.Comma()}
}

// Header returns a file's header with the names of the tags.
func (r *RecordTagger) Header(raw []byte) []byte {
	if r.json {
		return raw
	}
	return r.recode(raw, func(dst, raw []byte) []byte { return r.fields.AppendHeader(dst, raw, r.comma) })
}

// Record returns a record with its tag; it is valid until the next call.
func (r *RecordTagger) Record(raw []byte, t *Tag) []byte {
	return r.recode(raw, func(dst, raw []byte) []byte {
		r.values = r.fields.Values(r.values[:0], t, r.json)
		if r.json {
			return r.fields.AppendObject(dst, raw, r.values)
		}
		return AppendRow(dst, raw, r.comma, r.values)
	})
}

// recode applies change to bytes of the file, which are in its encoding.
func (r *RecordTagger) recode(raw []byte, change func(dst, raw []byte) []byte) []byte {
	if !r.encoding.Wide() {
		r.out = change(r.out[:0], raw)
		return r.out
	}
	inUTF8 := r.encoding.Append(nil, raw)
	r.out = r.encoding.AppendBack(r.out[:0], change(nil, inUTF8))
	return r.out
}

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
