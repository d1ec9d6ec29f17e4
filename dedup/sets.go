package dedup

import "github.com/alike-dev/alike/shingle"

// setReader gives the feature sets of documents to one goroutine: from the table
// where it keeps them, else made again from the records.
type setReader struct {
	rows     *cursor
	fetch    *fetcher // nil: the table has the sets
	shingler *shingle.Shingler
	made     []uint64
}

// newSetReader returns a reader for ascending documents. Where the table has no sets,
// the records that are asked for must have been prepared; see recordStore.
func (r *run) newSetReader() (*setReader, error) {
	s := &setReader{rows: r.table.scanner()}
	if r.table.hasSets {
		return s, nil
	}
	var err error
	if s.shingler, err = shingle.New(r.config.Features); err != nil {
		return nil, err
	}
	s.fetch = r.verifier.records.newFetcher()
	return s, nil
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
	s.made = s.shingler.AppendFeatures(s.made[:0], text)
	return shingle.Set(s.made), nil
}

// lasting tells whether the last set holds for good.
func (s *setReader) lasting() bool { return s.fetch == nil && s.rows.segment.resident }
