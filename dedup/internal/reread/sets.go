package reread

import (
	"context"

	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/recipe"
)

// Sets gives the feature sets of documents to one goroutine: from the table
// where it keeps them, else made again from the records.
type Sets struct {
	rows  *table.Cursor
	fetch *Fetcher // nil: the table has the sets
	maker *recipe.SetMaker
	made  []uint64
}

// NewSets returns a reader for ascending documents, of which prepareSets has been
// told. The caller closes it.
func (s *Store) NewSets(ctx context.Context) *Sets {
	sets := &Sets{rows: s.Table.Scanner()}
	if !s.Table.HasSets {
		sets.maker, sets.fetch = s.Recipe.NewSetMaker(), s.NewFetcher(ctx)
	}
	return sets
}

func (s *Sets) Close() {
	if s.fetch != nil {
		s.fetch.Close()
	}
}

// Of returns a document's feature set, which holds until the next call.
func (s *Sets) Of(doc uint32) ([]uint64, error) {
	if s.fetch == nil {
		set := s.rows.Set(doc)
		return set, s.rows.Err
	}
	text, err := s.fetch.Text(doc)
	if err != nil {
		return nil, err
	}
	s.made = s.maker.AppendSet(s.made[:0], text)
	return s.made, nil
}

// ShareOf is Of, but of a set that is made again it returns no more than keep wants.
func (s *Sets) ShareOf(doc uint32, keep func(feature uint64) bool) ([]uint64, error) {
	if s.fetch == nil {
		return s.Of(doc)
	}
	text, err := s.fetch.Text(doc)
	if err != nil {
		return nil, err
	}
	s.made = s.maker.AppendShare(s.made[:0], text, keep)
	return s.made, nil
}

// Lasting tells whether the last set holds for good.
func (s *Sets) Lasting() bool { return s.fetch == nil && s.rows.Resident() }
