package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
)

// copyBytes is how much of a plain file one job copies: what still lies in the
// second-level cache when it is written. With 4 MiB, copying a gigabyte takes
// twice the processor time.
const copyBytes = 512 << 10

// keptWriter is the last stage: it copies the kept records, byte for byte, to
// files with the names, formats and compressions of the inputs.
//
// A plain file is cut into jobs whose place in the output is known beforehand,
// so that all workers write one file at once. A compressed file is one job: it
// is decoded once more in order, and its writer compresses in parallel.
type keptWriter struct {
	t      *table
	r      *clustering
	config *Config
	out    *outputDir
	items  atomic.Int64
	bytes  atomic.Int64
}

// copyJob copies documents [first, end) of a plain file to the output at
// offset.
type copyJob struct {
	file       *outputFile
	first, end uint32
	offset     int64
}

// outputFile is a plain output file that several jobs fill.
type outputFile struct {
	source *corpus.Source
	path   string
	jobs   int

	mu   sync.Mutex
	in   *corpus.File
	to   *os.File
	left int
}

func (k *keptWriter) keeps(doc uint32) bool {
	return k.r.kept[doc] == doc && !k.t.docs[doc].skipped
}

// total returns the bytes of the records to be copied.
func (k *keptWriter) total() (bytes int64) {
	for i := k.t.refs; i < len(k.t.docs); i++ {
		doc := uint32(i)
		if k.keeps(doc) && k.t.sources[k.t.fileOf(doc)].Format != corpus.Text {
			bytes += int64(k.t.docs[doc].length)
		}
	}
	return bytes
}

// write copies all record files of the inputs.
func (k *keptWriter) write(ctx context.Context) error {
	var jobs []func(buf *[]byte) error
	for i := k.t.refSources; i < len(k.t.sources); i++ {
		source := &k.t.sources[i]
		if source.Format == corpus.Text {
			continue
		}
		path := k.out.staged(KeptFolder, filepath.FromSlash(source.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if source.Compression != corpus.Plain {
			jobs = append(jobs, func(*[]byte) error { return k.recompress(ctx, i, path) })
			continue
		}
		copies, err := k.planCopies(i, path)
		if err != nil {
			return err
		}
		for _, job := range copies {
			jobs = append(jobs, func(buf *[]byte) error { return k.copy(job, buf) })
		}
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(k.config.Threads, len(jobs)) {
		group.Go(func() error {
			var buf []byte
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return nil
				}
				if err := jobs[i](&buf); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// planCopies cuts a plain file into jobs. A file without documents gets one
// job too: its output has the header, or is empty.
func (k *keptWriter) planCopies(file int, path string) ([]copyJob, error) {
	source := &k.t.sources[file]
	first, end := k.t.docsOfFile(file)
	in, err := corpus.Open(*source, k.config.Corpus)
	if err != nil {
		return nil, unlessEmpty(first, end, err)
	}
	offset := int64(len(in.Header()))
	if err := in.Close(); err != nil {
		return nil, err
	}
	out := &outputFile{source: source, path: path}
	var jobs []copyJob
	job := copyJob{file: out, first: first, offset: offset}
	for doc := first; doc < end; doc++ {
		d := &k.t.docs[doc]
		length := int64(d.length)
		// By place, not by length: between two documents may lie a skipped record
		// of any size.
		if d.offset+length-k.t.docs[job.first].offset > copyBytes && doc > job.first {
			job.end = doc
			jobs = append(jobs, job)
			job = copyJob{file: out, first: doc, offset: offset}
		}
		if k.keeps(doc) {
			offset += length
		}
	}
	job.end = end
	jobs = append(jobs, job)
	out.jobs, out.left = len(jobs), len(jobs)
	return jobs, nil
}

// copy reads the range of a job's documents at once, closes the gaps of those
// not kept, and writes what remains.
func (k *keptWriter) copy(job copyJob, buf *[]byte) (err error) {
	f := job.file
	if err := f.enter(k.config.Corpus); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.leave()) }()
	if job.first == job.end {
		return nil
	}
	t := k.t
	start := t.docs[job.first].offset
	last := &t.docs[job.end-1]
	*buf = grow(*buf, int(last.offset+int64(last.length)-start))
	if _, err := f.in.ReaderAt().ReadAt(*buf, start); err != nil {
		if errors.Is(err, io.EOF) {
			return changed(f.source.Label())
		}
		return err
	}
	kept := (*buf)[:0]
	items := int64(0)
	for doc := job.first; doc < job.end; doc++ {
		if k.keeps(doc) {
			d := &t.docs[doc]
			at := d.offset - start
			kept = append(kept, (*buf)[at:at+int64(d.length)]...) // moves down within buf
			items++
		}
	}
	if _, err := f.to.WriteAt(kept, job.offset); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	startWriteback(f.to, job.offset, int64(len(kept)))
	k.count(items, int64(len(kept)), int64(len(*buf)))
	return nil
}

// count adds kept documents, and the bytes of the input gone through for them.
func (k *keptWriter) count(items, bytes, taken int64) {
	k.items.Add(items)
	k.bytes.Add(bytes)
	k.config.Progress.Advance(items, taken)
}

// enter opens both files for the first job.
func (f *outputFile) enter(options corpus.Options) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.to != nil {
		return nil
	}
	in, err := corpus.Open(*f.source, options)
	if err != nil {
		return err
	}
	to, err := os.Create(f.path)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	f.in, f.to = in, to
	if _, err := to.WriteAt(in.Header(), 0); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// leave closes both files after the last job.
func (f *outputFile) leave() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left > 0 {
		return nil
	}
	return errors.Join(f.in.Close(), f.to.Sync(), f.to.Close())
}

// recompress copies the kept records of a compressed file.
func (k *keptWriter) recompress(ctx context.Context, file int, path string) (err error) {
	source := k.t.sources[file]
	in, err := corpus.Open(source, k.config.Corpus)
	if err != nil {
		first, end := k.t.docsOfFile(file)
		return unlessEmpty(first, end, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	w, err := corpus.Create(path, source.Compression, k.config.Threads)
	if err != nil {
		return err
	}
	if err := k.copyStream(ctx, file, in, w); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

func (k *keptWriter) copyStream(ctx context.Context, file int, in *corpus.File, w *corpus.Writer) error {
	if _, err := w.Write(in.Header()); err != nil {
		return err
	}
	var b corpus.Block
	from := openFile{File: in}
	next, end := k.t.docsOfFile(file)
	for ctx.Err() == nil {
		if err := in.Next(&b); err != nil {
			return unlessEmpty(next, end, err) // the end, or damage that the first pass has named
		}
		doc, blockEnd := k.t.docsOfBlock(file, b.Seq)
		next = max(next, blockEnd)
		items, bytes := int64(0), int64(0)
		for ; doc < blockEnd; doc++ {
			raw, err := k.t.rawIn(doc, &b)
			if err != nil {
				return err
			}
			if k.keeps(doc) {
				if _, err := w.Write(raw); err != nil {
					return fmt.Errorf("output: %w", err)
				}
				items++
				bytes += int64(len(raw))
			}
		}
		k.count(items, bytes, from.advance())
	}
	return ctx.Err()
}

// unlessEmpty returns err if the first pass has found documents where reading
// now fails: then it is a failure of this run, not the known state of a file.
func unlessEmpty(first, end uint32, err error) error {
	if first == end {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return corpus.ErrChanged
	}
	return err
}

// rawIn returns a document's record in its block, read once more.
func (t *table) rawIn(doc uint32, b *corpus.Block) ([]byte, error) {
	d := &t.docs[doc]
	start := d.offset - b.Offset
	data := b.Data()
	if start < 0 || start+int64(d.length) > int64(len(data)) {
		return nil, changed(t.sources[t.fileOf(doc)].Label())
	}
	return data[start : start+int64(d.length)], nil
}
