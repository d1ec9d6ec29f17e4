package write

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/splice"
	"github.com/alike-dev/alike/internal/tagging"
)

// keptWriter is the last stage: it copies the kept records, byte for byte, to files with the names,
// formats and compressions of the inputs.
//
// A plain file is divided into jobs whose place in the output is known beforehand, so that all
// workers write one file at once. Any other file is one job: it is read in order, from what the first
// pass has kept or decoded once more, and its writer compresses in parallel. Files for an object store are uploaded at the same time, so
// that many small files do not cost a network round trip each.
type keptWriter struct {
	Options
	out     *Folder
	opener  *feed.Opener
	removed bitset.Set[uint32]
	before  map[int]written // what an earlier process has written
	group   *errgroup.Group // of workers and uploads
	uploads chan struct{}   // a place for each upload that is under way
	room    *memory
	items   atomic.Int64
	bytes   atomic.Int64

	mu   sync.Mutex
	lost []LostRows // of Parquet files
}

// writtenKind is the kind of the notes on the progress of a file.
const writtenKind = "written"

// written is one of these notes.
type written struct {
	File   int
	Doc    uint32 // the first document that is not written
	Offset int64  // of it in the output
	Sum    uint32 // checksum of the output before Offset
	Whole  bool
	State  durable.State // of a complete file
}

// noteBytes is how much of an output is written between two notes on it.
const noteBytes = 64 << 20

func (k *keptWriter) keeps(doc uint32) bool {
	return (k.Tags != nil || !k.removed.Has(doc)) && k.Table.Counts(doc)
}

// Options say what to write.
type Options struct {
	Table    *doctable.Table
	Clusters *clusters.Result   // nil: Removed decides, and there are no lists of removed documents and clusters
	Removed  bitset.Set[uint32] // without Clusters: documents that are not kept
	Records  bool               // clusters are of records, and have a column for their probability
	// Probability returns that of a document's cluster, and whether it is known; nil: it never is.
	Probability func(doc uint32) (p float64, known bool)
	// Cuts are documents out of which something is cut: what Cut returns, which makes such a function for each goroutine.
	// Then documents that are files of their own are written as well. nil: nothing is cut.
	Cuts    bitset.Set[uint32]
	Cut     func() func(doc uint32) ([]splice.Span, error)
	Corpus  corpus.Options
	IDsOnly bool                               // only the ids of kept documents are written
	Tags    *tagging.Fields                    // if set, all documents are kept, with these fields; see tagging.Duplicates
	Wanted  bitset.Set[uint32]                 // documents whose records Want gets, of files that are decoded for their copies; nil: none
	Want    func(doc uint32, raw []byte) error // may be called by several goroutines at once
	Kept    *reread.Kept                       // what the first pass has decoded, which is given back; nil: nothing
	Space   *scratch.Space
	Log     *resume.Log // nil: nothing is noted
	// NoteBytes is how much of an output is written between two notes on it; 0: noteBytes.
	NoteBytes int64
	Progress  meter.Progress
	Meter     *meter.Meter // nil: nothing is measured
}

// Counts are the numbers of what All has written.
type Counts struct {
	Items int64 // records
	Bytes int64 // of them
	Lost  []LostRows
}

// All writes everything but the summary below the staging folder of an output. The lists are small,
// but waiting until they are on disk takes time, so they are written at the same time as the
// records.
func All(ctx context.Context, o Options, out *Folder) (n Counts, err error) {
	k, err := newKeptWriter(o, out)
	if err != nil {
		return n, err
	}
	for file := range o.Table.Sources {
		if o.IDsOnly || !k.rewrites(file) {
			o.Kept.Drop(file) // the compressors need the memory now
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	if o.Clusters != nil {
		group.Go(func() error { return o.writeRemoved(ctx, out) })
		group.Go(func() error { return o.writeClusters(ctx, out) })
	}
	has := func(what func(f corpus.Format) bool) bool {
		return slices.ContainsFunc(k.inputs(), func(s corpus.Source) bool { return what(s.Format) })
	}
	if o.IDsOnly || o.Tags != nil && has(func(f corpus.Format) bool { return !tagging.Carry(f) }) {
		group.Go(func() error { return k.writeIDs(ctx) })
	}
	if !o.IDsOnly {
		group.Go(func() error { return k.write(ctx) })
		if o.Cut == nil && has(func(f corpus.Format) bool { return f == corpus.Text }) {
			group.Go(func() error { return k.writeList(ctx) })
		}
	}
	err = group.Wait()
	return Counts{k.items.Load(), k.bytes.Load(), k.lost}, err
}

// inputs returns the sources that are not references.
func (o *Options) inputs() []corpus.Source { return o.Table.Sources[o.Table.ReferenceFiles:] }

// newKeptWriter prepares the writing of all documents but those removed.
func newKeptWriter(o Options, out *Folder) (*keptWriter, error) {
	if o.NoteBytes == 0 {
		o.NoteBytes = noteBytes
	}
	k := &keptWriter{
		Options: o, out: out, removed: o.Removed, before: map[int]written{}, uploads: make(chan struct{}, uploadsAtOnce),
		room: newMemory(o.Space.Share(2)),
	}
	if o.Clusters != nil {
		k.removed = bitset.New[uint32](o.Table.Docs)
		err := o.Clusters.Removed.Visit(func(e extsort.Entry) error {
			k.removed.Add(uint32(e.Key))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !o.Log.Resumed() {
		return k, nil
	}
	if err := k.sweep(); err != nil {
		return nil, err
	}
	for w, err := range resume.All[written](o.Log, writtenKind) {
		if err != nil {
			return nil, err
		}
		k.before[w.File] = w
	}
	for file, w := range k.before {
		same, err := k.stands(w)
		if err != nil {
			return nil, err
		}
		if !same { // somebody has removed or changed it: it is written again
			delete(k.before, file)
		}
	}
	return k, nil
}

// path returns the staging path of a source's output.
func (k *keptWriter) path(file int) string {
	return k.out.kept(&k.Table.Sources[file])
}

// write copies all record files of the inputs.
func (k *keptWriter) write(ctx context.Context) error {
	k.opener = feed.NewOpener(ctx, k.Table.Sources, k.Corpus, k.Space.Share(8), k.rewrites)
	defer k.opener.Close()
	jobs := make(chan func(buf *[]byte) error)
	group, ctx := errgroup.WithContext(ctx)
	k.group = group
	group.Go(func() error {
		defer close(jobs)
		return k.plan(ctx, jobs)
	})
	for worker := range k.Space.Threads {
		group.Go(func() error {
			var buf []byte
			for job := range jobs {
				begun := k.Meter.Now()
				err := job(&buf)
				if k.Meter.Since("write", worker, begun); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// rewrites tells whether a file must be written and cannot be read in place.
func (k *keptWriter) rewrites(file int) bool {
	source := &k.Table.Sources[file]
	return file >= k.Table.ReferenceFiles && !k.leaves(source) && source.Format != corpus.Parquet &&
		!k.before[file].Whole && !k.copiesInPlace(file)
}

// copiesInPlace tells whether pieces of a file are copied as they are, each to a place that is known beforehand.
func (k *keptWriter) copiesInPlace(file int) bool {
	source := &k.Table.Sources[file]
	return source.InPlace() && (k.Tags == nil || !tagging.Carry(source.Format)) && source.Format != corpus.Text && !k.cutsSome(k.Table.DocsOfFile(file))
}

// leaves tells whether a file is a document that stays where it is, and is only listed.
func (k *keptWriter) leaves(s *corpus.Source) bool { return s.Format == corpus.Text && k.Cut == nil }

func (k *keptWriter) plan(ctx context.Context, jobs chan<- func(buf *[]byte) error) error {
	send := func(job func(buf *[]byte) error) error {
		select {
		case jobs <- job:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i := k.Table.ReferenceFiles; i < len(k.Table.Sources); i++ {
		source := &k.Table.Sources[i]
		if k.leaves(source) || k.before[i].Whole {
			continue
		}
		path := k.path(i)
		if err := k.out.fs.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		var err error
		if source.Format == corpus.Parquet {
			err = send(func(*[]byte) error { return k.copyRows(ctx, i, path) })
		} else if k.copiesInPlace(i) {
			plain := plainCopies{k}
			err = plain.plan(ctx, i, path, func(job copyJob) error {
				return send(func(buf *[]byte) error { return plain.copy(ctx, job, buf) })
			})
		} else {
			err = send(func(*[]byte) error { return k.rewrite(ctx, i, path) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outputError adds to an error that it concerns the output.
func outputError(err error) error { return fmt.Errorf("output: %w", err) }

// count adds kept documents, and the bytes of the input processed for them.
func (k *keptWriter) count(items, bytes, taken int64) {
	k.items.Add(items)
	k.bytes.Add(bytes)
	k.Progress.Advance(items, taken)
}

// uploadsAtOnce is how many files of records are uploaded at once. They are sent from disk, and so
// take no memory.
const uploadsAtOnce = 16

// whole records that a file is written, after its upload if there is one.
func (k *keptWriter) whole(ctx context.Context, file int, path string) error {
	switch {
	case k.out.remote == nil && k.Log == nil:
		return nil // all names are made durable together at the end
	case k.out.remote == nil:
		return k.noteWhole(ctx, file, path)
	}
	select {
	case k.uploads <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	k.group.Go(func() error {
		defer func() { <-k.uploads }()
		return k.noteWhole(ctx, file, path)
	})
	return nil
}

func (k *keptWriter) noteWhole(ctx context.Context, file int, path string) error {
	if err := k.out.whole(ctx, KeptFolder+"/"+k.Table.Sources[file].Name, path); err != nil {
		return err
	}
	w := written{File: file, Whole: true}
	if k.out.remote == nil {
		st, err := k.out.fs.Stat(path)
		if err != nil {
			return outputError(err)
		}
		w.State = durable.StateOf(st)
	}
	return k.Log.Note(writtenKind, w)
}

// cutsSome tells whether something is cut out of one of the documents from first to end.
func (k *keptWriter) cutsSome(first, end uint32) bool {
	if k.Cut == nil {
		return false
	}
	for doc := first; doc < end; doc++ {
		if k.Cuts.Has(doc) {
			return true
		}
	}
	return false
}

// rowTexts are the texts of a Parquet file's rows without what is cut.
type rowTexts struct {
	k     *keptWriter
	rows  *splice.Rows
	docs  *rowDocs
	spans func(doc uint32) ([]splice.Span, error)
	out   []byte
}

// newRowTexts returns the texts of a file. The caller closes it.
func (k *keptWriter) newRowTexts(ctx context.Context, file int) (*rowTexts, error) {
	rows, err := splice.OpenRows(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return nil, err
	}
	return &rowTexts{k: k, rows: rows, docs: k.newRowDocs(file), spans: k.Cut()}, nil
}

func (r *rowTexts) close() error { return errors.Join(r.rows.Close(), r.docs.Err) }

// text returns the text of a row of a document, which is behind that of the call before. It is valid until the next call.
func (r *rowTexts) text(row int64) ([]byte, error) {
	text, err := r.rows.Text(row)
	if err != nil {
		return nil, err
	}
	doc, err := r.docs.of(row)
	if err != nil || !r.k.Cuts.Has(doc) {
		return text, err
	}
	spans, err := r.spans(doc)
	if err != nil {
		return nil, err
	}
	r.out = splice.Cut(r.out[:0], text, spans)
	return r.out, nil
}
