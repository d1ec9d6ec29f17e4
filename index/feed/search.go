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

// Queries says which records are looked for in an index. Index and Sources must be set.
type Queries struct {
	Index   *index.Index
	Sources []corpus.Source
	Corpus  corpus.Options // how to read them
	Options index.SearchOptions
	// OrExact compares a query with every document where the recall is out of reach otherwise.
	OrExact bool
	// OnSkip, when set, is told of every record that cannot be read, in order; an error ends
	// the run.
	OnSkip  func(*corpus.Problem) error
	Threads int // 0: all processors
}

// Found is what was found of one query.
type Found struct {
	ID      []byte // of the query: its own, or its file, or file:line
	Matches []index.Match
	Exact   bool  // it was compared with every document
	Err     error // why it was not looked for: it is index.ErrRecall
}

// Search calls emit for each query, in order, with what Searcher.Search finds. Read of the
// Summary counts queries; nothing is added.
func Search(ctx context.Context, q Queries, emit func(Found) error) (s Summary, err error) {
	if q.Corpus.BlockSize == 0 {
		q.Corpus.BlockSize = querySize
	}
	if q.Threads == 0 {
		q.Threads = runtime.GOMAXPROCS(0)
	}
	r := &search{Queries: &q, emit: emit}
	workers := make([]intake.Worker, q.Threads)
	for i := range workers {
		workers[i] = &searcher{search: r, parser: corpus.NewParser(q.Corpus), searcher: q.Index.NewSearcher()}
	}
	err = intake.Read(ctx, q.Sources, q.Corpus, nil, workers)
	return r.summary, err
}

// querySize is how much of a file of queries a goroutine takes at once: a query is more work
// than a document to be added.
const querySize = 32 << 10

// search is what the goroutines share; they use it in their turn only.
type search struct {
	*Queries
	emit    func(Found) error
	summary Summary
}

// searcher looks for the queries of blocks. It belongs to one goroutine.
type searcher struct {
	*search
	parser   *corpus.Parser
	searcher *index.Searcher
	found    []Found
	problems []*corpus.Problem
}

func (w *searcher) Prepare(f *corpus.File, b *corpus.Block, line int64) error {
	w.found, w.problems = w.found[:0], w.problems[:0]
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		if r.Err != nil {
			w.problems = append(w.problems, f.Problem(line+r.Line, r.Offset, r.Err))
			continue
		}
		found := Found{ID: bytes.Clone(r.ID)}
		if r.ID == nil {
			found.ID = f.Source().AppendID(nil, line+r.Line)
		}
		o := w.Options
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

func (w *searcher) Commit() error {
	for _, p := range w.problems {
		if err := w.Damaged(p); err != nil {
			return err
		}
	}
	for _, f := range w.found {
		w.summary.Read++
		if err := w.emit(f); err != nil {
			return err
		}
	}
	return nil
}

func (w *searcher) Damaged(p *corpus.Problem) error {
	w.summary.Read++
	w.summary.Skipped++
	if w.OnSkip != nil {
		return w.OnSkip(p)
	}
	return nil
}
