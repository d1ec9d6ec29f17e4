package linkage

import (
	"context"

	"github.com/alike-dev/alike/corpus"
)

// Columns returns the names of a table's columns, and of the one that Join takes for the ids
// where id asks for it (see Config.LeftID); "" where records are named by their numbers.
func Columns(ctx context.Context, table, id string, o corpus.Options) (columns []string, idColumn string, err error) {
	s, err := find(ctx, table, id, o)
	if err != nil {
		return nil, "", err
	}
	return s.columns, s.id, nil
}

// Similarity returns that of any two records of the only table by their numbers, see
// Link.RowA: the cosine of their tokens, as links have it. It is for one goroutine at a time.
func (r *Result) Similarity(a, b int) float64 {
	return r.matcher.similarity(pair{uint32(a), uint32(b)})
}

// ID returns the id of a record of the only table by its number.
func (r *Result) ID(row int) []byte { return r.only.ID(row) }
