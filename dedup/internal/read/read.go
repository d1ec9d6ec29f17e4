package read

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/recipe"
)

// Options say what to read, and what to make of it.
type Options struct {
	Recipe   recipe.Recipe
	Corpus   corpus.Options
	Table    doctable.Options // its Words: 0 if signatures are not kept
	LongText int              // see recipe.MakerOptions.Long
	Short    recipe.ShortSets
	Within   int  // in Corpus.Fields: the field of the recipe's Within, or that of Table.By
	Stored   bool // records are fingerprints, whose fields are StoredFields
	// FirstProblem ends the reading behind the first record that cannot be used. All records before
	// it are read, so that the problem is the first one for any number of threads.
	FirstProblem bool
	Layouts      *feed.Layouts
	// Tags, if set, are fields that records of the inputs must not have: one that has one ends the reading.
	Tags *tagging.Fields
	// Keep, if set, is called with each block of the sources that cannot be read in place, before
	// it is parsed. It is called by several goroutines.
	Keep func(file int, b *corpus.Block)
	// Look, if set, makes a Look for each worker, which is called for each document of the inputs.
	Look func() Look
	// Scan, if set, makes a Scan for each worker, which looks at each document in place of Recipe: documents have neither
	// digest nor keys.
	Scan     func() Scan
	Progress meter.Progress
	Meter    *meter.Meter // nil: nothing is measured
}

// A Look returns what is known of the text that m has processed last, nil if nothing. It becomes
// the document's value in the table, and is valid until the next call. An error ends the reading.
type Look func(m *recipe.Maker, made recipe.Made, text, within []byte) ([]byte, error)

// A Scan returns the document's value in the table, valid until the next call; nil: it has none. features is 0 if the
// document has nothing to look at.
type Scan func(r *corpus.Record) (value []byte, features int)

// Counts are the numbers of what was read.
type Counts struct {
	Documents int64
	Bytes     int64 // of their records
}

// Records is the first stage: it makes every record of all sources a document with a digest, band
// keys and, if wanted, signature and feature set. It continues behind what an earlier process has
// read. The caller closes the table.
func Records(ctx context.Context, o Options) (*doctable.Table, Counts, error) {
	r := newReader(o)
	t, err := r.read(ctx)
	if err != nil {
		r.table.Close()
		return nil, r.counts(), err
	}
	return t, r.counts(), nil
}

// reader is the state that the workers of Records share.
type reader struct {
	Options
	table  *doctable.Builder
	feeder *feed.Feeder
	before *before // what an earlier process has read
	items  atomic.Int64
	bytes  atomic.Int64

	mu     sync.Mutex
	cutoff doctable.Position // with FirstProblem: nothing behind it needs to be read
}

func newReader(o Options) *reader {
	return &reader{Options: o, table: doctable.NewBuilder(o.Table), cutoff: doctable.EndOfInput}
}

func (r *reader) counts() Counts { return Counts{r.items.Load(), r.bytes.Load()} }

func (r *reader) read(ctx context.Context) (*doctable.Table, error) {
	if err := r.restore(); err != nil {
		return nil, err
	}
	space, sources := r.Table.Space, r.Table.Sources
	opener := feed.NewOpener(ctx, sources, r.Corpus, space.Share(8), r.before.wanted)
	r.feeder = feed.NewFeeder(sources, opener, r.Layouts, r.before.wanted, r.before.done)
	defer r.feeder.Close()
	group, ctx := errgroup.WithContext(ctx)
	for worker := range space.Threads {
		group.Go(func() error { return r.run(ctx, worker) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return r.table.Table()
}

func (r *reader) run(ctx context.Context, worker int) error {
	w := r.newWorker()
	w.watch = startWatch(r.Meter)
	defer func() { w.watch.stop(r.Meter, worker) }()
	err := w.read(ctx)
	if err == nil {
		err = w.rows.Finish()
	}
	return errors.Join(err, w.rows.Close())
}

// worker owns the scratch memory of one goroutine.
type worker struct {
	*reader
	parser *corpus.Parser
	maker  *recipe.Maker
	stored *storedReader // nil: records have texts
	look   Look          // nil: nothing is looked up
	scan   Scan          // nil: maker makes documents
	value  []byte        // of scan, for the current document
	known  int64         // documents for which it returned something
	other  bool          // a fingerprint since the last piece of a block was of another scheme
	rows   *doctable.Filler
	watch  stopwatch
	taken  int64 // bytes of input since its part was begun
}

func (r *reader) newWorker() *worker {
	w := &worker{reader: r, parser: corpus.NewParser(r.Corpus), rows: r.table.NewFiller()}
	w.parser.Overwrite(r.Tags == nil) // of a record only what is made from it is used
	o := recipe.MakerOptions{Signature: r.Table.Words > 0, Long: r.LongText, Short: r.Short, Whole: r.table.KeepsSet}
	if r.Meter != nil {
		o.Lap = func(step recipe.Step) { w.watch.lap(stepOf[step]) }
	}
	w.maker = r.Recipe.NewMaker(o)
	if r.Look != nil {
		w.look = r.Look()
	}
	if r.Scan != nil {
		w.scan = r.Scan()
	}
	if r.Stored {
		w.stored = newStoredReader(r.Recipe, &r.Corpus)
	}
	return w
}

func (w *worker) read(ctx context.Context) error {
	var b corpus.Block
	defer b.Release()
	var file *feed.OpenFile
	for ctx.Err() == nil {
		var err error
		w.watch.lap(stepParse)
		file, err = w.feeder.Take(file, &b)
		w.watch.lap(stepFiles)
		if err == io.EOF {
			return nil
		}
		if err := ctx.Err(); err != nil { // perhaps while it waited for its turn
			return err
		}
		if errors.Is(err, corpus.ErrUnavailable) { // not a property of the file: must not be taken for its end
			return err
		}
		var goOn bool
		if err == nil {
			goOn, err = w.readBlock(file, &b)
		} else {
			end := doctable.EndBlock(file.Index, file.Blocks.Load()+w.before.count(file.Index))
			if err != feed.ErrFileEnd {
				// It cannot be opened or breaks off; what was read of it counts.
				end.AddProblem(problemLine(err), nil, problemCause(err))
			}
			file = nil
			goOn, err = w.keep(&end)
		}
		if err != nil || !goOn {
			return err
		}
		if ended, err := w.rows.Rest(w.taken); err != nil {
			return err
		} else if ended {
			w.taken = 0
		}
	}
	return ctx.Err()
}

// problemLine returns the line to record for an error with a line of its own: negative, to
// distinguish it from a line within a block.
func problemLine(err error) int64 {
	var p *corpus.Problem
	if errors.As(err, &p) {
		return ^p.Line
	}
	return ^int64(0)
}

func problemCause(err error) error {
	var p *corpus.Problem
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// readBlock turns a block into documents. Memory is allocated for each segment of the table, not
// for each document.
func (w *worker) readBlock(file *feed.OpenFile, b *corpus.Block) (goOn bool, err error) {
	var record corpus.Record
	piece := w.rows.Begin(file.Index, b.Seq, 0)
	defer w.trim()
	if source := &w.Table.Sources[file.Index]; w.Keep != nil && !source.InPlace() && !source.ByRange() {
		w.Keep(file.Index, b)
	}
	w.parser.Start(file.File, b)
	tagged := w.Tags != nil && file.Index >= w.Table.References
	if tagged {
		if err := w.Tags.FreeFile(file.File); err != nil {
			return false, err
		}
	}
	for w.parser.Next(&record) {
		if tagged {
			if err := w.Tags.FreeRecord(file.File, &record); err != nil {
				return false, err
			}
		}
		var made recipe.Made
		if record.Err == nil {
			w.maker.Within(w.within(&record))
			made, record.Err = w.make(&record)
		}
		if record.Err != nil {
			piece.AddProblem(record.Line, record.ID, record.Err)
		} else if err := w.addDocument(file.Index, &record, made); err != nil {
			return false, err
		}
		if w.rows.Full(&piece) {
			if goOn, err := w.endPiece(&piece); err != nil || !goOn {
				return goOn, err
			}
			piece = w.rows.Begin(file.Index, b.Seq, piece.Piece+1)
		}
	}
	// Lines are counted within the block: the next block's begin behind its last piece.
	piece.Lines = b.Lines
	w.taken += int64(len(b.Data()))
	goOn, err = w.endPiece(&piece)
	w.Progress.Advance(0, file.Advance())
	return goOn, err
}

// endPiece keeps what was read of a block.
func (w *worker) endPiece(piece *doctable.Block) (goOn bool, err error) {
	bytes := w.rows.End(piece)
	if err := doctable.CheckDocuments(w.items.Add(int64(piece.Docs))); err != nil {
		return false, err
	}
	w.bytes.Add(bytes)
	w.Progress.Advance(int64(piece.Docs), 0)
	goOn, err = w.keep(piece)
	w.other = false
	return goOn, err
}

// make makes the data of a document from a record's text, or from its stored signature.
func (w *worker) make(record *corpus.Record) (recipe.Made, error) {
	w.watch.lap(stepParse)
	if w.scan != nil {
		var made recipe.Made
		w.value, made.Features = w.scan(record)
		w.watch.lap(stepFeatures)
		return made, nil
	}
	if w.stored == nil {
		return w.maker.Make(record.Text), nil
	}
	packed, err := w.stored.open(record)
	if err != nil {
		w.other = w.other || errors.Is(err, fault.ErrScheme)
		return recipe.Made{}, err
	}
	made, err := w.maker.Take(packed)
	if err != nil {
		return made, damagedSignature(err)
	}
	return made, nil
}

// valueOf returns a record's value of that field.
func (w *worker) valueOf(record *corpus.Record) []byte {
	if !w.Table.Valued() || w.Within >= len(record.Fields) {
		return nil
	}
	return record.Fields[w.Within]
}

// within returns the hash of that value.
func (w *worker) within(record *corpus.Record) recipe.Within {
	if !w.Table.Within {
		return 0
	}
	return recipe.WithinOf(w.valueOf(record))
}

// leastSets is the room, in features, for the sets of a segment: there are more than a few, or none.
const leastSets = 1 << 13

func (w *worker) addDocument(file int, record *corpus.Record, made recipe.Made) (err error) {
	w.watch.lap(stepParse)
	c := w.rows.Columns()
	c.Keys = w.maker.AppendKeys(c.Keys)
	c.Hashes = w.maker.AppendHashes(c.Hashes)
	w.watch.lap(stepSketch)
	if w.Table.Words > 0 {
		c.Signatures = append(c.Signatures, w.maker.Signature()...)
	}
	if w.table.KeepsSet(len(c.Features) + made.Features) {
		set := w.within(record).Set(w.maker.Set())
		if len(c.Features)+len(set) > cap(c.Features) {
			c.Features = slices.Grow(c.Features, max(len(set), len(c.Features), leastSets))
		}
		c.Features = append(c.Features, set...)
	}
	value := w.value
	if len(record.Fields) > 0 && !(w.Table.Valued() && w.Within == 0) {
		value = record.Fields[0]
	}
	if w.look != nil && file >= w.Table.References {
		var within []byte
		if w.Table.Within {
			within = w.valueOf(record)
		}
		if value, err = w.look(w.maker, made, record.Text, within); err != nil {
			return err
		}
		if value != nil {
			w.known++
		}
	}
	w.rows.Add(doctable.Document{
		Digest:   made.Digest[0],
		Check:    engine.Check(made.Digest),
		Length:   uint32(len(record.Raw)),
		TextSize: w.textSize(record),
		Features: uint32(made.Features),
		Line:     uint32(record.Line),
	}.At(record.Offset), record.ID, w.valueOf(record), value)
	return nil
}

// textSize returns the length for a keep rule: of the text or, if records have none, of all values
// that were asked for.
func (w *worker) textSize(record *corpus.Record) uint32 {
	n := len(record.Text)
	if w.Corpus.NoText {
		for _, value := range record.Fields {
			n += len(value)
		}
	}
	return uint32(n)
}

// trim gives back the memory that an unusually long text has left.
func (w *worker) trim() {
	w.parser.Trim()
	w.maker.Trim()
}

// keep adds a block to the table. It reports whether the worker should continue.
func (w *worker) keep(b *doctable.Block) (goOn bool, err error) {
	w.mu.Lock()
	beyond := b.Position().Compare(w.cutoff) > 0
	if !beyond && b.HasProblems() && (w.FirstProblem || w.other) {
		w.cutoff = b.Position()
		w.feeder.Stop(w.cutoff.File)
	}
	w.mu.Unlock()
	if beyond {
		w.rows.Drop(b)
		return false, nil
	}
	return true, w.rows.Keep(b)
}

// Sampled are the sums over some blocks of a file.
type Sampled struct {
	Documents int64
	Known     int64 // of these documents, those for which Options.Look returned something
	Columns   int64 // bytes of the table
	Decoded   int64 // bytes of the blocks
}

// Sample reads blocks of a file as long as more returns true, and keeps nothing. ok is false if the
// file cannot be read.
func Sample(ctx context.Context, o Options, index int, file *corpus.File, more func() bool) (s Sampled, ok bool, err error) {
	o.Table.SegmentBytes = math.MaxInt64 // one segment holds the sample
	w := newReader(o).newWorker()
	var b corpus.Block
	opened := &feed.OpenFile{File: file, Index: index}
	for ctx.Err() == nil && more() {
		if err := file.Next(&b); err == io.EOF { // compared directly: an error of damage may wrap one
			break
		} else if err != nil {
			return s, false, nil
		}
		if _, err := w.readBlock(opened, &b); err != nil {
			return s, false, err
		}
		s.Decoded += int64(len(b.Data()))
	}
	documents, bytes := w.rows.Filled()
	s.Documents, s.Known, s.Columns = int64(documents), w.known, bytes
	return s, true, nil
}
