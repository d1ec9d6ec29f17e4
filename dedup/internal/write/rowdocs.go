package write

import (
	"fmt"

	"github.com/alike-dev/alike/dedup/internal/doctable"
)

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
