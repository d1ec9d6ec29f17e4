package reread

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/recipe"
)

// Sets returns the feature sets of documents to one goroutine: from the table if it keeps them,
// otherwise made again from the records.
type Sets struct {
	rows  *doctable.Cursor
	fetch *Fetcher // nil: the table has the sets
	maker *recipe.SetMaker
	made  []uint64
	plain []uint64
}

// NewSets returns a reader for ascending documents, for which PrepareSets was called. The caller
// closes it.
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

// Within returns the hash of a document's value, if the recipe compares within values.
func (s *Sets) Within(doc uint32) recipe.Within { return s.rows.WithinHash(doc) }

// Plain is Of whatever the document's value, in any order.
func (s *Sets) Plain(doc uint32) ([]uint64, error) {
	set, err := s.Of(doc)
	if within := s.Within(doc); err == nil && within != 0 {
		s.plain = within.AppendFeatures(s.plain[:0], set)
		set = s.plain
	}
	return set, errors.Join(err, s.rows.Err)
}

// Features returns the features of a document whatever its value, in any order and perhaps repeated, which saves sorting
// them if they are made again. They are valid until the next call.
func (s *Sets) Features(doc uint32) ([]uint64, error) {
	if s.fetch == nil {
		return s.Plain(doc)
	}
	text, err := s.fetch.Text(doc)
	if err == nil {
		s.made = s.maker.AppendFeatures(s.made[:0], text)
	}
	return s.made, err
}

// Of returns a document's feature set, that of recipe.Within.Set if the recipe compares within values. It is valid
// until the next call.
func (s *Sets) Of(doc uint32) ([]uint64, error) {
	if s.fetch == nil {
		set := s.rows.Set(doc)
		return set, s.rows.Err
	}
	text, err := s.fetch.Text(doc)
	if err != nil {
		return nil, err
	}
	s.made = s.Within(doc).Set(s.maker.AppendSet(s.made[:0], text))
	return s.made, s.rows.Err
}

// ShareOf is Of, but if a set is made again it returns only the features that keep accepts.
func (s *Sets) ShareOf(doc uint32, keep func(feature uint64) bool) ([]uint64, error) {
	if s.fetch == nil {
		return s.Of(doc)
	}
	text, err := s.fetch.Text(doc)
	if err != nil {
		return nil, err
	}
	s.made = s.Within(doc).Set(s.maker.AppendShare(s.made[:0], text, keep))
	return s.made, s.rows.Err
}

// Lasting tells whether the last set stays valid.
func (s *Sets) Lasting() bool { return s.fetch == nil && s.rows.Resident() }
