// Package feed adds the records of files to an index.
package feed

import (
	"context"
	"fmt"
	"runtime"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/internal/intake"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/fault"
)

// A Collection takes documents: an index.Index or index.Builder.
type Collection interface {
	NewBatch() *index.Batch
	Add(*index.Batch) error
	Options() index.Options
}

// Config says what to read and where it goes. Index and Sources must be set.
type Config struct {
	Index     Collection
	Sources   []corpus.Source
	Corpus    corpus.Options // how to read them; Fields are set by Run
	TimeField string         // field with the time of a document; "": they have none. See stream.ParseTime.
	// OnSkip, when set, is told of every record that cannot be read, in order; an error ends
	// the run.
	OnSkip  func(*corpus.Problem) error
	Threads int // 0: all processors
}

// Summary counts records. Read = Added + Skipped.
type Summary struct{ Read, Added, Skipped int64 }

// blockSize is how much of a file a goroutine takes at once, and so about how many bytes are
// stored together.
const blockSize = 512 << 10

// Run adds the records of all sources, in order, with the values of the index's columns. A
// document without an id of its own is named by its file, or file:line. When Run has returned
// they survive, of a Builder when that is finished; of a run that ended early some are in an Index,
// and the same run adds them again: with index.Options.ByID nothing is there twice.
func Run(ctx context.Context, c Config) (s Summary, err error) {
	if c.Corpus.BlockSize == 0 {
		c.Corpus.BlockSize = blockSize
	}
	columns := c.Index.Options().Columns
	c.Corpus.Fields = append([]string{}, columns...)
	if c.TimeField != "" {
		c.Corpus.Fields = append(c.Corpus.Fields, c.TimeField)
	}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	r := &run{Config: &c, columns: len(columns)}
	workers := make([]intake.Worker, c.Threads)
	for i := range workers {
		workers[i] = &worker{run: r, parser: corpus.NewParser(c.Corpus), batch: c.Index.NewBatch()}
	}
	if err := intake.Read(ctx, c.Sources, c.Corpus, nil, workers); err != nil {
		return r.summary, err
	}
	if x, ok := c.Index.(interface{ Sync() error }); ok {
		return r.summary, x.Sync()
	}
	return r.summary, nil
}

// run is what the goroutines share; they use it in their turn only.
type run struct {
	*Config
	columns int
	summary Summary
}

// worker handles blocks. It belongs to one goroutine.
type worker struct {
	*run
	parser   *corpus.Parser
	batch    *index.Batch
	problems []*corpus.Problem
	id       []byte
}

func (w *worker) Prepare(f *corpus.File, b *corpus.Block, line int64) error {
	w.batch.Reset()
	w.problems = w.problems[:0]
	w.parser.Start(f, b)
	for r := (corpus.Record{}); w.parser.Next(&r); {
		err := r.Err
		if err == nil {
			err = w.add(f, &r, line)
		}
		if err != nil {
			w.problems = append(w.problems, f.Problem(line+r.Line, r.Offset, err))
		}
	}
	w.parser.Trim()
	return nil
}

func (w *worker) add(f *corpus.File, r *corpus.Record, line int64) error {
	d := index.Document{ID: r.ID, Text: r.Text, Columns: r.Fields[:w.columns]}
	if w.TimeField != "" {
		at, err := stream.ParseTime(r.Fields[w.columns])
		if err != nil {
			return fmt.Errorf("field %s: %w", fault.Shown(w.TimeField), err)
		}
		d.Time = at
	}
	if d.ID == nil {
		w.id = f.Source().AppendID(w.id[:0], line+r.Line)
		d.ID = w.id
	}
	w.batch.Add(d)
	return nil
}

// Commit adds the documents.
func (w *worker) Commit() error {
	w.summary.Read += int64(w.batch.Len())
	w.summary.Added += int64(w.batch.Len())
	for _, p := range w.problems {
		if err := w.Damaged(p); err != nil {
			return err
		}
	}
	return w.Index.Add(w.batch)
}

func (w *worker) Damaged(p *corpus.Problem) error {
	w.summary.Read++
	w.summary.Skipped++
	if w.OnSkip != nil {
		return w.OnSkip(p)
	}
	return nil
}
