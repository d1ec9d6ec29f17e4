package write

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/internal/splice"
)

// cutsSome tells whether something is cut out of one of the documents from first to end.
func (k *keptWriter) cutsSome(first, end uint32) bool {
	if k.Cut == nil {
		return false
	}
	for doc := first; doc < end; doc++ {
		if k.Cuts.Has(doc) {
			return true
		}
	}
	return false
}

// rowTexts are the texts of a Parquet file's rows without what is cut.
type rowTexts struct {
	k     *keptWriter
	rows  *splice.Rows
	docs  *rowDocs
	spans func(doc uint32) ([]splice.Span, error)
	out   []byte
}

// newRowTexts returns the texts of a file. The caller closes it.
func (k *keptWriter) newRowTexts(ctx context.Context, file int) (*rowTexts, error) {
	rows, err := splice.OpenRows(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return nil, err
	}
	return &rowTexts{k: k, rows: rows, docs: k.newRowDocs(file), spans: k.Cut()}, nil
}

func (r *rowTexts) close() error { return errors.Join(r.rows.Close(), r.docs.Err) }

// text returns the text of a row of a document, which is behind that of the call before. It is valid until the next call.
func (r *rowTexts) text(row int64) ([]byte, error) {
	text, err := r.rows.Text(row)
	if err != nil {
		return nil, err
	}
	doc, err := r.docs.of(row)
	if err != nil || !r.k.Cuts.Has(doc) {
		return text, err
	}
	spans, err := r.spans(doc)
	if err != nil {
		return nil, err
	}
	r.out = splice.Cut(r.out[:0], text, spans)
	return r.out, nil
}
