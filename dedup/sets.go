package dedup

import (
	"context"

	"github.com/alike-dev/alike/recipe"
)

// setReader gives the feature sets of documents to one goroutine: from the table
// where it keeps them, else made again from the records.
type setReader struct {
	rows  *cursor
	fetch *fetcher // nil: the table has the sets
	maker *recipe.SetMaker
	made  []uint64
}

// newSetReader returns a reader for ascending documents. Where the table has no sets,
// the records that are asked for must have been prepared; see recordStore.
func (r *run) newSetReader(ctx context.Context) *setReader {
	s := &setReader{rows: r.table.scanner()}
	if !r.table.hasSets {
		s.maker, s.fetch = r.recipe.NewSetMaker(), r.verifier.records.newFetcher(ctx)
	}
	return s
}

func (s *setReader) close() {
	if s.fetch != nil {
		s.fetch.close()
	}
}

// set returns a document's feature set, which holds until the next call.
func (s *setReader) set(doc uint32) ([]uint64, error) {
	if s.fetch == nil {
		set := s.rows.set(doc)
		return set, s.rows.err
	}
	text, err := s.fetch.text(doc)
	if err != nil {
		return nil, err
	}
	s.made = s.maker.AppendSet(s.made[:0], text)
	return s.made, nil
}

// lasting tells whether the last set holds for good.
func (s *setReader) lasting() bool { return s.fetch == nil && s.rows.segment.resident }
