package reread

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/forecast"
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

// Judged returns representatives in the form that forecasts take.
func (s *Store) Judged(ctx context.Context, docs bitset.Set[uint32]) forecast.Documents {
	return judged{ctx, s, docs}
}

type judged struct {
	ctx     context.Context
	records *Store
	docs    bitset.Set[uint32]
}

// Each implements forecast.Documents.
func (j judged) Each(visit func(d forecast.Document)) error {
	c := j.records.Table.Scanner()
	for doc := range uint32(j.records.Table.Docs) {
		if j.docs.Has(doc) {
			d := c.Doc(doc)
			visit(forecast.Document{Number: doc, Features: d.Features, Digest: d.Digest})
		}
	}
	return c.Err
}

// Sets implements forecast.Documents.
func (j judged) Sets(of []uint32, keep func(uint64) bool, visit func(number uint32, set []uint64)) error {
	wanted := bitset.New[uint32](j.records.Table.Docs)
	for _, doc := range of {
		wanted.Add(doc)
	}
	if err := j.records.PrepareSets(j.ctx, wanted); err != nil {
		return err
	}
	sets := j.records.NewSets(j.ctx)
	defer sets.Close()
	for _, doc := range of {
		set, err := sets.ShareOf(doc, keep)
		if err != nil {
			return err
		}
		visit(doc, set)
	}
	return j.ctx.Err()
}
