package write

import (
	"context"
	"errors"
	"io"

	"github.com/alike-dev/alike/corpus"
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

// rowTexts are the texts of a Parquet file's rows without what is cut. It reads the file besides the one who copies its
// other columns.
type rowTexts struct {
	k      *keptWriter
	file   *corpus.File
	parser *corpus.Parser
	block  corpus.Block
	begun  bool  // a block was read
	rows   int64 // before the block
	record corpus.Record
	docs   *rowDocs
	spans  func(doc uint32) ([]splice.Span, error)
	out    []byte
}

// newRowTexts returns the texts of a file. The caller closes it.
func (k *keptWriter) newRowTexts(ctx context.Context, file int) (*rowTexts, error) {
	in, err := corpus.Open(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return nil, err
	}
	return &rowTexts{k: k, file: in, parser: corpus.NewParser(k.Corpus), docs: k.newRowDocs(file), spans: k.Cut()}, nil
}

func (r *rowTexts) close() error {
	r.block.Release()
	return errors.Join(r.file.Close(), r.docs.Err)
}

// text returns the text of a row of a document, which is behind that of the call before. It is valid until the next call.
func (r *rowTexts) text(row int64) ([]byte, error) {
	if err := r.seek(row); err != nil {
		return nil, err
	}
	doc, err := r.docs.of(row)
	if err != nil || !r.k.Cuts.Has(doc) {
		return r.record.Text, err
	}
	spans, err := r.spans(doc)
	if err != nil {
		return nil, err
	}
	r.out = splice.Cut(r.out[:0], r.record.Text, spans)
	return r.out, nil
}

// seek reads on to a row.
func (r *rowTexts) seek(row int64) error {
	for {
		for r.begun && r.parser.Next(&r.record) {
			if r.rows+r.record.Line == row {
				return r.record.Err
			}
		}
		r.rows += r.block.Lines
		switch err := r.file.Next(&r.block); {
		case err == io.EOF:
			return corpus.ErrChanged
		case err != nil:
			return err
		}
		r.parser.Start(r.file, &r.block)
		r.begun = true
	}
}
