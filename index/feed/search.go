package feed

import (
	"bytes"
	"context"
	"errors"
	"runtime"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/internal/intake"
)

// Queries is the input of Search. Index and Sources must be set.
type Queries struct {
	Index   *index.Index
	Sources []corpus.Source // files with the queries
	Corpus  corpus.Options  // how to read the sources; Search sets Fields
	Options index.SearchOptions
	// OrExact compares a query with every document if its keys cannot reach the recall that Options ask for.
	OrExact bool
	// OnSkip, if set, receives every record that cannot be read, in order. If it returns an error, Search
	// returns that error.
	OnSkip  func(*corpus.Problem) error
	Threads int // 0: all processors
}

// Found is the result of one query.
type Found struct {
	ID      []byte // of the query: its own id or, without one, its file, or file:line
	Matches []index.Match
	Exact   bool  // the query was compared with every document
	Err     error // index.ErrRecall if the keys of the query cannot reach the recall; it was not searched for
}

// Search calls emit for each query, in order, with the result of Searcher.Search. If emit returns an
// error, Search returns that error. Summary.Read counts queries; Added is 0.
func Search(ctx context.Context, q Queries, emit func(Found) error) (s Summary, err error) {
	if q.Corpus.BlockSize == 0 {
		q.Corpus.BlockSize = querySize
	}
	if q.Threads == 0 {
		q.Threads = runtime.GOMAXPROCS(0)
	}
	if within := q.Index.Options().Recipe.Within(); within != "" {
		q.Corpus.Fields = []string{within}
	}
	r := &search{Queries: &q, emit: emit, tally: tally{onSkip: q.OnSkip}}
	workers := make([]intake.Worker, q.Threads)
	for i := range workers {
		workers[i] = &searcher{search: r, parser: corpus.NewParser(q.Corpus), searcher: q.Index.NewSearcher()}
	}
	err = intake.Read(ctx, q.Sources, q.Corpus, nil, workers)
	return r.summary, err
}

// querySize is how many bytes of a file of queries a goroutine takes at once. It is less than blockSize,
// since to answer a query is more work than to add a document.
const querySize = 32 << 10

// search is shared by the searchers. Only Commit and Damaged change it, which intake calls one at a time.
type search struct {
	*Queries
	emit func(Found) error
	tally
}

// searcher answers the queries of blocks. It belongs to one goroutine.
type searcher struct {
	*search
	parser   *corpus.Parser
	searcher *index.Searcher
	found    []Found
	problems []*corpus.Problem
}

// Prepare implements intake.Worker. It answers the queries.
func (w *searcher) Prepare(f *corpus.File, b *corpus.Block, line int64) error {
	w.found, w.problems = w.found[:0], w.problems[:0]
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		if r.Err != nil {
			w.problems = append(w.problems, f.RecordProblem(line, &r, r.Err))
			continue
		}
		found := Found{ID: bytes.Clone(r.ID)}
		if r.ID == nil {
			found.ID = f.Source().AppendID(nil, line+r.Line)
		}
		o := w.Options
		o.Encoding = r.Encoding
		if len(w.Corpus.Fields) > 0 {
			o.Within = append([]byte{}, r.Fields[0]...)
		}
		found.Matches, found.Err = w.searcher.Search(r.Text, o)
		if w.OrExact && errors.Is(found.Err, index.ErrRecall) {
			o.Exact = true
			found.Matches, found.Err = w.searcher.Search(r.Text, o)
		}
		found.Exact = o.Exact
		if found.Err != nil && !errors.Is(found.Err, index.ErrRecall) {
			return found.Err
		}
		w.found = append(w.found, found)
	}
	w.parser.Trim()
	return nil
}

// Commit implements intake.Worker. It emits the results.
func (w *searcher) Commit() error {
	if err := w.allDamaged(w.problems); err != nil {
		return err
	}
	for _, f := range w.found {
		w.summary.Read++
		if err := w.emit(f); err != nil {
			return err
		}
	}
	return nil
}
