package splice

import (
	"context"
	"io"

	"github.com/alike-dev/alike/corpus"
)

// Rows reads the texts of a Parquet file besides the one who copies its other columns.
type Rows struct {
	file   *corpus.File
	parser *corpus.Parser
	block  corpus.Block
	begun  bool  // a block was read
	rows   int64 // before the block
	record corpus.Record
}

// OpenRows opens a file. The caller closes it.
func OpenRows(ctx context.Context, source corpus.Source, o corpus.Options) (*Rows, error) {
	file, err := corpus.Open(ctx, source, o)
	if err != nil {
		return nil, err
	}
	return &Rows{file: file, parser: corpus.NewParser(o)}, nil
}

// Close closes the file.
func (r *Rows) Close() error {
	r.block.Release()
	return r.file.Close()
}

// Text returns the text of a row, from 0, which is not before that of the call before. It is valid until the next call.
func (r *Rows) Text(row int64) ([]byte, error) {
	for {
		for r.begun && r.rows+r.record.Line < row && r.parser.Next(&r.record) {
		}
		if r.begun && r.rows+r.record.Line == row {
			return r.record.Text, r.record.Err
		}
		r.rows += r.block.Lines
		switch err := r.file.Next(&r.block); {
		case err == io.EOF:
			return nil, corpus.ErrChanged
		case err != nil:
			return nil, err
		}
		r.parser.Start(r.file, &r.block)
		r.begun, r.record.Line = true, -1
	}
}
