// Package feed adds the records of files to an index, and searches an index for the records of files.
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

// Config is the input of Run. Index and Sources must be set.
type Config struct {
	Index     Collection
	Sources   []corpus.Source
	Corpus    corpus.Options // how to read the sources; Run sets Fields
	TimeField string         // field with a document's time, in a format of stream.ParseTime; "": documents have no time
	// OnSkip, if set, receives every record that cannot be read, in order. If it returns an error, Run
	// returns that error.
	OnSkip  func(*corpus.Problem) error
	Threads int // 0: all processors
}

// Summary counts records. Of Run, Read = Added + Skipped.
type Summary struct {
	Read, Added, Skipped int64
	// Of an Index with index.Options.ByID: documents that have left it since an added one has their id, and added
	// ones that were named apart (index.Document.Made). A Builder tells both when it is finished.
	Replaced, Apart int64
}

// blockSize is how many bytes of a file a goroutine takes at once. It is also about how many bytes the
// index stores in one batch.
const blockSize = 512 << 10

// Run adds the records of all sources in order, with the values of the index's columns. The id of a
// record without one is its file, or file:line; that of a line is made up (index.Document.Made). When Run has returned nil, the documents of an Index
// survive a crash; those of a Builder do so when the Builder is finished.
//
// After an error an Index holds some of the documents. A repeated run adds all of them; with
// index.Options.ByID it replaces those that are there already.
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
	r := &run{Config: &c, columns: len(columns), tally: tally{onSkip: c.OnSkip}}
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

// run is shared by the workers. Only Commit and Damaged change it, which intake calls one at a time.
type run struct {
	*Config
	columns int
	tally
}

// tally counts records and reports those that cannot be read.
type tally struct {
	onSkip  func(*corpus.Problem) error // nil: nobody asks
	summary Summary
}

// Damaged implements intake.Worker.
func (t *tally) Damaged(p *corpus.Problem) error {
	t.summary.Read++
	t.summary.Skipped++
	if t.onSkip != nil {
		return t.onSkip(p)
	}
	return nil
}

// allDamaged reports several records.
func (t *tally) allDamaged(problems []*corpus.Problem) error {
	for _, p := range problems {
		if err := t.Damaged(p); err != nil {
			return err
		}
	}
	return nil
}

// worker adds the documents of blocks. It belongs to one goroutine.
type worker struct {
	*run
	parser   *corpus.Parser
	batch    *index.Batch
	problems []*corpus.Problem
	id       []byte
}

// Prepare implements intake.Worker. It fills the batch.
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
			w.problems = append(w.problems, f.RecordProblem(line, &r, err))
		}
	}
	w.parser.Trim()
	return nil
}

func (w *worker) add(f *corpus.File, r *corpus.Record, line int64) error {
	d := index.Document{ID: r.ID, Text: r.Text, Encoding: r.Encoding, Columns: r.Fields[:w.columns]}
	if w.TimeField != "" {
		at, err := stream.ParseTime(r.Fields[w.columns])
		if err != nil {
			return fmt.Errorf("field %s: %w", fault.Shown(w.TimeField), err)
		}
		d.Time = at
	}
	if d.ID == nil {
		w.id = f.Source().AppendID(w.id[:0], line+r.Line)
		d.ID, d.Made = w.id, f.Source().MakesIDs()
	}
	w.batch.Add(d)
	return nil
}

// Commit implements intake.Worker. It adds the batch to the index.
func (w *worker) Commit() error {
	w.summary.Read += int64(w.batch.Len())
	w.summary.Added += int64(w.batch.Len())
	if err := w.allDamaged(w.problems); err != nil {
		return err
	}
	err := w.Index.Add(w.batch)
	w.summary.Replaced += w.batch.Replaced()
	w.summary.Apart += w.batch.Apart()
	return err
}
