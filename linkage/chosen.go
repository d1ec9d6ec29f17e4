package linkage

import (
	"context"

	"github.com/alike-dev/alike/corpus"
)

// Columns returns the names of a table's columns, and of the column that Join takes for the ids, given id (see
// Config.LeftID); "" if records are named by their numbers.
func Columns(ctx context.Context, table, id string, o corpus.Options) (columns []string, idColumn string, err error) {
	s, err := findSource(ctx, table, id, o)
	if err != nil {
		return nil, "", err
	}
	return s.columns, s.id, nil
}

// Chosen says what a join compares, and how records are named.
type Chosen struct {
	Fields          []Field  // weight and tokens are settled
	LeftID, RightID string   // columns; corpus.NoID: the number of the record
	With            []string // columns of both tables that are passed through
	Unused          []Unused
	Notes           []string // what is unusual in the first records of the tables
}

// Choose returns what a join would compare. It reads the beginnings of the tables.
func Choose(ctx context.Context, c Config) (*Chosen, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	left, right, err := findTables(ctx, &c)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := chooseColumns(ctx, &c, left, right, r); err != nil {
		return nil, err
	}
	chosen := &Chosen{LeftID: left.options.IDField, RightID: right.options.IDField, With: c.With, Unused: r.Unused, Notes: r.Notes}
	for _, column := range r.Columns {
		chosen.Fields = append(chosen.Fields, column.Field)
	}
	return chosen, nil
}
