package write

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/tagging"
)

// tagger makes the tags of documents in ascending order. It belongs to one goroutine.
type tagger struct {
	docs, labels, kept                 doctable.Namer
	label, size, removed, similarities extsort.Lookup
}

// newTagger returns the tagger of the documents from first on. The caller closes it.
func (o *Options) newTagger(first uint32) *tagger {
	from := func(s *extsort.Sorted) extsort.Lookup { return extsort.Lookup{Reader: s.ReaderFrom(uint64(first))} }
	c := o.Clusters
	return &tagger{
		docs: doctable.Namer{Cursor: o.Table.Scanner()}, labels: doctable.Namer{Cursor: o.Table.Cursor()}, kept: doctable.Namer{Cursor: o.Table.Cursor()},
		label: from(c.Labels), size: from(c.Sizes), removed: from(c.Removed), similarities: from(c.Similarities),
	}
}

// of returns the tag of a document. One that is alone is a cluster of its own.
func (t *tagger) of(doc uint32) (tagging.Tag, error) {
	label, clustered := t.label.Find(uint64(doc))
	if !clustered {
		return tagging.Tag{Cluster: t.docs.ID(doc), Size: 1}, t.err()
	}
	g := tagging.Tag{Cluster: t.labels.ID(uint32(label))}
	g.Size, _ = t.size.Find(uint64(doc))
	var kept uint64
	if kept, g.Duplicate = t.removed.Find(uint64(doc)); g.Duplicate {
		g.Of, g.In, g.Similarity = t.kept.ID(uint32(kept)), t.kept.Label(uint32(kept)), 1 // a copy
		if bits, ok := t.similarities.Find(uint64(doc)); ok {
			g.Similarity = math.Float64frombits(bits)
		}
	}
	return g, t.err()
}

func (t *tagger) err() error {
	return errors.Join(t.docs.Err, t.labels.Err, t.kept.Err, t.label.Err(), t.size.Err(), t.removed.Err(), t.similarities.Err())
}

func (t *tagger) close() error {
	return errors.Join(t.label.Close(), t.size.Close(), t.removed.Close(), t.similarities.Close())
}

// recordTagger adds tags to the records of one open file.
type recordTagger struct {
	*tagger
	to *tagging.RecordTagger
}

// record returns a record with its tags; it is valid until the next call.
func (r *recordTagger) record(doc uint32, raw []byte) ([]byte, error) {
	g, err := r.of(doc)
	if err != nil {
		return nil, err
	}
	return r.to.Record(raw, &g), nil
}

// rowTagger makes the columns of tags for a Parquet file.
type rowTagger struct {
	*tagger
	to   *tagging.RowTagger
	docs *rowDocs
}

// newRowTagger returns the tagger of a file. The caller closes it.
func (k *keptWriter) newRowTagger(file int) *rowTagger {
	docs := k.newRowDocs(file)
	return &rowTagger{tagger: k.newTagger(docs.doc), to: k.Tags.Rows(), docs: docs}
}

// rows returns a Parquet file with the tags of rows, which are kept documents of the file, ascending from call to call.
func (r *rowTagger) rows(rows []int64) ([]byte, error) {
	return r.to.File(rows, func(row int64) (tagging.Tag, error) {
		doc, err := r.docs.of(row)
		if err != nil {
			return tagging.Tag{}, err
		}
		return r.of(doc)
	})
}

// rowDocs finds the documents of a Parquet file by their rows, which ascend from call to call.
type rowDocs struct {
	*doctable.Cursor
	doc uint32 // the next one
	end uint32 // behind the last one
}

func (k *keptWriter) newRowDocs(file int) *rowDocs {
	first, end := k.Table.DocsOfFile(file)
	return &rowDocs{k.Table.Scanner(), first, end}
}

// find returns the document of a row; ok is false if it has none.
func (r *rowDocs) find(row int64) (doc uint32, ok bool) {
	for r.doc < r.end && r.Line(r.doc)-1 < row {
		r.doc++
	}
	return r.doc, r.doc < r.end && r.Err == nil && r.Line(r.doc)-1 == row
}

func (r *rowDocs) of(row int64) (uint32, error) {
	doc, ok := r.find(row)
	if !ok {
		return 0, fmt.Errorf("row %d is no document: %w", row, r.Err)
	}
	return doc, nil
}
