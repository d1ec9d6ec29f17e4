package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/dedup/internal/resume"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
)

// copyBytes is how much of a plain file one job copies: what still lies in the
// second-level cache when it is written. With 4 MiB, copying a gigabyte takes
// twice the processor time.
const copyBytes = 512 << 10

// keptWriter is the last stage: it copies the kept records, byte for byte, to
// files with the names, formats and compressions of the inputs.
//
// A plain file is cut into jobs whose place in the output is known beforehand,
// so that all workers write one file at once. Another file is one job: it is
// decoded once more in order, and its writer compresses in parallel. What goes to
// an object store is uploaded meanwhile, so that many small files do not cost an
// answer of the network each.
type keptWriter struct {
	Options
	out     *Folder
	opener  *feed.Opener
	removed bitset.Set
	before  map[int]written // what an earlier process has written
	group   *errgroup.Group // of workers and uploads
	uploads chan struct{}   // a place for each upload that is under way
	room    *memory
	items   atomic.Int64
	bytes   atomic.Int64

	mu   sync.Mutex
	lost []LostRows // of Parquet files
}

// writtenKind is the kind of the notes of how far a file is.
const writtenKind = "written"

// written is such a note.
type written struct {
	File   int
	Doc    uint32 // the first one that is not written
	Offset int64  // of it in the output
	Sum    uint32 // checksum of what stands before Offset
	Whole  bool
	State  durable.State // of a whole file
}

// copyJob copies documents [first, end) of a plain file to the output at
// offset.
type copyJob struct {
	file       *outputFile
	number     int // in its file
	first, end uint32
	offset     int64
	size       int64 // of the output
}

// outputFile is a plain output file that several jobs fill.
type outputFile struct {
	number int // of the source
	source *corpus.Source
	path   string
	in     *corpus.File
	to     vfs.File

	mu    sync.Mutex
	left  int             // jobs under way, and one as long as more are planned
	ended map[int]copyJob // jobs that have ended before one that comes earlier
	next  int             // job up to which all have ended
	state written         // up to there
	noted int64           // offset at the last note
	sum   int64           // offset up to which state.Sum goes
}

// noteBytes is how much of an output is written between two notes of it.
const noteBytes = 64 << 20

func (k *keptWriter) keeps(doc uint32) bool {
	return !k.removed.Has(doc) && k.Table.Counts(doc)
}

// Options say what is written.
type Options struct {
	Table    *table.Table
	Clusters *clusters.Result
	Corpus   corpus.Options
	IDsOnly  bool                               // of what is kept only the ids are written
	Wanted   bitset.Set                         // documents whose records Want gets, of files that are decoded for their copies; nil: none
	Want     func(doc uint32, raw []byte) error // may be called by several goroutines at once
	Space    *scratch.Space
	Log      *resume.Log // nil: nothing is noted
	// NoteBytes is how much of an output is written between two notes of it; 0: noteBytes.
	NoteBytes int64
	Progress  meter.Progress
}

// Counts say what writeAll has written.
type Counts struct {
	Items int64 // records
	Bytes int64 // of them
	Lost  []LostRows
}

// All writes everything but the summary below the staging folder of an output. The lists
// are small, but waiting for the disk to have them is not quick, so they are written beside
// the records.
func All(ctx context.Context, o Options, out *Folder) (n Counts, err error) {
	k, err := newKeptWriter(o, out)
	if err != nil {
		return n, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return out.writeRemoved(ctx, o.Table, o.Clusters) })
	group.Go(func() error { return out.writeClusters(ctx, o.Table, o.Clusters) })
	if o.IDsOnly {
		group.Go(func() error { return out.writeKeptIDs(ctx, k) })
	} else {
		group.Go(func() error { return k.write(ctx) })
		if slices.ContainsFunc(k.inputs(), func(s corpus.Source) bool { return s.Format == corpus.Text }) {
			group.Go(func() error { return out.writeKeptList(ctx, k) })
		}
	}
	err = group.Wait()
	return Counts{k.items.Load(), k.bytes.Load(), k.lost}, err
}

// inputs returns the sources that are no references.
func (o *Options) inputs() []corpus.Source { return o.Table.Sources[o.Table.ReferenceFiles:] }

// newKeptWriter prepares the writing of all documents but those removed.
func newKeptWriter(o Options, out *Folder) (*keptWriter, error) {
	if o.NoteBytes == 0 {
		o.NoteBytes = noteBytes
	}
	k := &keptWriter{
		Options: o, out: out, removed: bitset.New(o.Table.Docs), before: map[int]written{}, uploads: make(chan struct{}, uploadsAtOnce),
		room: newMemory(o.Space.Share(2)),
	}
	err := o.Clusters.Removed.Visit(func(e extsort.Entry) error {
		k.removed.Add(uint32(e.Key))
		return nil
	})
	if err != nil || !o.Log.Resumed() {
		return k, err
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
		if !same { // who has removed or changed what was written has it written again
			delete(k.before, file)
		}
	}
	return k, nil
}

// stands tells whether what an earlier process has written of a file is still there.
func (k *keptWriter) stands(w written) (bool, error) {
	path := k.path(w.File)
	if w.Whole && k.out.remote != nil {
		return true, nil // it was uploaded
	}
	if !durable.IsOwn(k.out.fs, path) {
		return false, nil
	}
	st, err := k.out.fs.Stat(path)
	if err != nil {
		return false, outputError(err)
	}
	if w.Whole {
		return durable.StateOf(st) == w.State, nil
	}
	if st.Size() < w.Offset {
		return false, nil
	}
	file, err := k.out.fs.Open(path)
	if err != nil {
		return false, outputError(err)
	}
	sum, err := sumOf(file, 0, 0, w.Offset)
	if err = errors.Join(err, file.Close()); err != nil {
		return false, outputError(err)
	}
	return sum == w.Sum, nil
}

// sumOf goes on with a checksum over a range of a file.
func sumOf(file io.ReaderAt, sum uint32, from, to int64) (uint32, error) {
	buf := make([]byte, min(copyBytes, to-from))
	for from < to {
		n := min(int64(len(buf)), to-from)
		if _, err := file.ReadAt(buf[:n], from); err != nil {
			return 0, err
		}
		sum = durable.Checksum(sum, buf[:n])
		from += n
	}
	return sum, nil
}

// sweep removes what an earlier process has begun under another name, and links,
// which none has made.
func (k *keptWriter) sweep() error {
	expected := map[string]bool{}
	for i := k.Table.ReferenceFiles; i < len(k.Table.Sources); i++ {
		expected[k.path(i)] = true
	}
	var walk func(folder string) error
	walk = func(folder string) error {
		names, err := k.out.fs.List(folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			path := filepath.Join(folder, name)
			st, err := durable.Lstat(k.out.fs, path)
			switch {
			case err != nil:
				return err
			case expected[path] && st.Mode().IsRegular():
			case st.IsDir():
				err = walk(path)
			default:
				err = k.out.fs.Remove(path)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	kept := k.out.staged(KeptFolder)
	if info, err := durable.Lstat(k.out.fs, kept); err == nil && durable.IsLink(info) {
		return outputError(k.out.fs.Remove(kept))
	}
	if err := walk(kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		return outputError(err)
	}
	return nil
}

// path returns where a source's output is staged.
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
	for range k.Space.Threads {
		group.Go(func() error {
			var buf []byte
			for job := range jobs {
				if err := job(&buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// rewrites tells whether a file is to be written and cannot be read in place.
func (k *keptWriter) rewrites(file int) bool {
	source := &k.Table.Sources[file]
	return file >= k.Table.ReferenceFiles && source.Format != corpus.Text && source.Format != corpus.Parquet &&
		!k.before[file].Whole && !source.InPlace()
}

// plan sends the jobs.
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
		if source.Format == corpus.Text || k.before[i].Whole {
			continue
		}
		path := k.path(i)
		if err := k.out.fs.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		if source.Format == corpus.Parquet {
			err = send(func(*[]byte) error { return k.copyRows(ctx, i, path) })
		} else if source.InPlace() {
			err = k.planCopies(ctx, i, path, func(job copyJob) error {
				return send(func(buf *[]byte) error { return k.copy(ctx, job, buf) })
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

// planCopies cuts a plain file into jobs. A file without documents gets one
// job too: its output has the header, or is empty.
func (k *keptWriter) planCopies(ctx context.Context, file int, path string, send func(copyJob) error) (err error) {
	first, end := k.Table.DocsOfFile(file)
	out, err := k.open(ctx, file, path, first, end)
	if out == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.leave(ctx, out)) }()
	c := k.Table.Scanner()
	job := copyJob{file: out, first: out.state.Doc, offset: out.state.Offset}
	start := int64(0) // of the job's first record in the input
	cut := func(doc uint32) error {
		job.end = doc
		out.mu.Lock()
		out.left++
		out.mu.Unlock()
		if err := send(job); err != nil {
			return errors.Join(err, k.leave(ctx, out))
		}
		job = copyJob{file: out, number: job.number + 1, first: doc, offset: job.offset + job.size}
		return nil
	}
	for doc := job.first; doc < end; doc++ {
		d := c.Doc(doc)
		if c.Err != nil {
			return c.Err
		}
		if doc == job.first {
			start = d.Offset
		}
		length := int64(d.Length)
		// By place, not by length: between two documents may lie a skipped record
		// of any size.
		if d.Offset+length-start > copyBytes && doc > job.first {
			if err := cut(doc); err != nil {
				return err
			}
			start = d.Offset
		}
		if k.keeps(doc) {
			job.size += length
		}
	}
	return cut(end)
}

// open opens a plain file and its output, behind what an earlier process has
// written there. It returns nil for a file that cannot be read, if it had no
// documents.
func (k *keptWriter) open(ctx context.Context, file int, path string, first, end uint32) (*outputFile, error) {
	in, err := corpus.Open(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return nil, unlessEmpty(first, end, err)
	}
	out := &outputFile{
		number: file, source: &k.Table.Sources[file], path: path, in: in, left: 1, ended: map[int]copyJob{},
		state: written{File: file, Doc: first, Offset: int64(len(in.Header()))},
	}
	before, resumed := k.before[file]
	if resumed {
		out.state, out.sum = before, before.Offset
		out.to, err = durable.OpenOwn(k.out.fs, path)
	} else {
		out.to, err = k.out.fs.Create(path, vfs.WriteCategoryUnspecified) // exclusively: it follows no link
	}
	if err != nil {
		return nil, errors.Join(outputError(err), in.Close())
	}
	out.noted = out.state.Offset
	if header := in.Header(); !resumed && len(header) > 0 {
		if _, err := out.to.WriteAt(header, 0); err != nil {
			return nil, errors.Join(outputError(err), in.Close(), out.to.Close())
		}
	}
	return out, nil
}

// outputError says where something went wrong.
func outputError(err error) error { return fmt.Errorf("output: %w", err) }

// copy reads the range of a job's documents at once, closes the gaps of those
// not kept, and writes what remains.
func (k *keptWriter) copy(ctx context.Context, job copyJob, buf *[]byte) (err error) {
	f := job.file
	defer func() { err = errors.Join(err, k.leave(ctx, f)) }()
	if job.first < job.end {
		if err := k.copyRecords(job, buf); err != nil {
			return err
		}
	}
	return k.ended(job)
}

func (k *keptWriter) copyRecords(job copyJob, buf *[]byte) error {
	f := job.file
	docs := k.Table.Scanner()
	start := docs.Doc(job.first).Offset
	last := docs.Doc(job.end - 1)
	if docs.Err != nil {
		return docs.Err
	}
	if job.end-job.first == 1 && last.Length > 2*copyBytes {
		return k.copyLong(job, start, int64(last.Length), buf)
	}
	*buf = scratch.Buffer(*buf, int(last.Offset+int64(last.Length)-start))
	if err := f.readAt(*buf, start); err != nil {
		return err
	}
	kept := (*buf)[:0]
	items := int64(0)
	for doc := job.first; doc < job.end; doc++ {
		if k.keeps(doc) {
			d := docs.Doc(doc)
			if docs.Err != nil {
				return docs.Err
			}
			at := d.Offset - start
			kept = append(kept, (*buf)[at:at+int64(d.Length)]...) // moves down within buf
			items++
		}
	}
	taken := int64(len(*buf))
	if len(kept) > 0 {
		if _, err := f.to.WriteAt(kept, job.offset); err != nil {
			return outputError(err)
		}
		startWriteback(f.to, job.offset, int64(len(kept)))
	}
	k.count(items, job.size, taken)
	return nil
}

// copyLong copies the one record of a job, which begins at start, piece by piece.
func (k *keptWriter) copyLong(job copyJob, start, length int64, buf *[]byte) error {
	items := int64(0)
	if k.keeps(job.first) {
		items = 1
		for done := int64(0); done < length; done += copyBytes {
			*buf = scratch.Buffer(*buf, int(min(copyBytes, length-done)))
			if err := job.file.readAt(*buf, start+done); err != nil {
				return err
			}
			if _, err := job.file.to.WriteAt(*buf, job.offset+done); err != nil {
				return outputError(err)
			}
			startWriteback(job.file.to, job.offset+done, int64(len(*buf)))
		}
	}
	k.count(items, job.size, length)
	return nil
}

// readAt fills p from the place start of the input.
func (f *outputFile) readAt(p []byte, start int64) error {
	_, err := f.in.ReaderAt().ReadAt(p, start)
	if errors.Is(err, io.EOF) {
		return table.Changed(f.source.Label())
	}
	return err
}

// count adds kept documents, and the bytes of the input gone through for them.
func (k *keptWriter) count(items, bytes, taken int64) {
	k.items.Add(items)
	k.bytes.Add(bytes)
	k.Progress.Advance(items, taken)
}

// ended notes, now and then, up to where the output is whole.
func (k *keptWriter) ended(job copyJob) error {
	f := job.file
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended[job.number] = job
	for {
		j, ok := f.ended[f.next]
		if !ok {
			break
		}
		delete(f.ended, f.next)
		f.next++
		f.state.Doc, f.state.Offset = j.end, j.offset+j.size
	}
	l := k.Log
	if l == nil || f.state.Offset-f.noted < k.NoteBytes {
		return nil
	}
	sum, err := sumOf(f.to, f.state.Sum, f.sum, f.state.Offset)
	if err != nil {
		return outputError(err)
	}
	f.state.Sum, f.sum, f.noted = sum, f.state.Offset, f.state.Offset
	if err := f.to.Sync(); err != nil {
		return outputError(err)
	}
	return l.Note(writtenKind, f.state)
}

// leave closes both files when no job of them is left.
func (k *keptWriter) leave(ctx context.Context, f *outputFile) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left > 0 {
		return nil
	}
	if err := errors.Join(f.in.Close(), f.to.Sync(), f.to.Close()); err != nil {
		return outputError(err)
	}
	if _, end := k.Table.DocsOfFile(f.number); f.state.Doc < end {
		return nil // some job has failed
	}
	return k.whole(ctx, f.number, f.path)
}

// uploadsAtOnce is how many files of records are uploaded at once. They are sent
// from where they lie, and so take no memory.
const uploadsAtOnce = 16

// whole notes that a file is written, when it is uploaded if it is to be.
func (k *keptWriter) whole(ctx context.Context, file int, path string) error {
	switch {
	case k.out.remote == nil && k.Log == nil:
		return nil // all names are made durable at once in the end
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
