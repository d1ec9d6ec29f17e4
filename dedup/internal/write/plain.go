package write

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// copyBytes is how much of a plain file one job copies: so little that it is still in the
// second-level cache when it is written. With 4 MiB, copying a gigabyte takes twice the processor
// time.
const copyBytes = 512 << 10

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
	left  int             // jobs under way, plus one while more are planned
	ended map[int]copyJob // jobs that have ended before an earlier one
	next  int             // job up to which all have ended
	state written         // state up to that job
	noted int64           // offset at the last note
	sum   int64           // offset that state.Sum covers
}

// plainCopies are the copies of plain files, in jobs.
type plainCopies struct{ *keptWriter }

// plan divides a plain file into jobs. A file without documents also gets one job: its output
// has the header, or is empty.
func (k plainCopies) plan(ctx context.Context, file int, path string, send func(copyJob) error) (err error) {
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
			start = d.Offset()
		}
		length := int64(d.Length)
		// By offset, not by length: a skipped record of any size may lie between two documents.
		if d.Offset()+length-start > copyBytes && doc > job.first {
			if err := cut(doc); err != nil {
				return err
			}
			start = d.Offset()
		}
		if k.keeps(doc) {
			job.size += length
		}
	}
	return cut(end)
}

// open opens a plain file and its output, behind what an earlier process has written there. It
// returns nil for a file that cannot be read, if it had no documents.
func (k plainCopies) open(ctx context.Context, file int, path string, first, end uint32) (*outputFile, error) {
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
		out.to, err = k.out.fs.Create(path) // exclusively: it follows no link
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

// copy reads the range of a job's documents at once, closes the gaps of documents that are not
// kept, and writes the rest.
func (k plainCopies) copy(ctx context.Context, job copyJob, buf *[]byte) (err error) {
	f := job.file
	defer func() { err = errors.Join(err, k.leave(ctx, f)) }()
	if job.first < job.end {
		if err := k.copyRecords(job, buf); err != nil {
			return err
		}
	}
	return k.ended(job)
}

func (k plainCopies) copyRecords(job copyJob, buf *[]byte) error {
	f := job.file
	docs := k.Table.Scanner()
	start := docs.Doc(job.first).Offset()
	last := docs.Doc(job.end - 1)
	if docs.Err != nil {
		return docs.Err
	}
	if job.end-job.first == 1 && last.Length > 2*copyBytes {
		return k.copyLong(job, start, int64(last.Length), buf)
	}
	*buf = scratch.Buffer(*buf, int(last.Offset()+int64(last.Length)-start))
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
			at := d.Offset() - start
			kept = append(kept, (*buf)[at:at+int64(d.Length)]...) // moves down within buf
			items++
		}
	}
	taken := int64(len(*buf))
	if len(kept) > 0 {
		if _, err := f.to.WriteAt(kept, job.offset); err != nil {
			return outputError(err)
		}
		durable.StartWriteback(f.to, job.offset, int64(len(kept)))
	}
	k.count(items, job.size, taken)
	return nil
}

// copyLong copies the only record of a job, which begins at start, piece by piece.
func (k plainCopies) copyLong(job copyJob, start, length int64, buf *[]byte) error {
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
			durable.StartWriteback(job.file.to, job.offset+done, int64(len(*buf)))
		}
	}
	k.count(items, job.size, length)
	return nil
}

// readAt fills p from offset start of the input.
func (f *outputFile) readAt(p []byte, start int64) error {
	_, err := f.in.ReaderAt().ReadAt(p, start)
	if errors.Is(err, io.EOF) {
		return doctable.Changed(f.source.Label())
	}
	return err
}

// ended records, now and then, up to where the output is complete.
func (k plainCopies) ended(job copyJob) error {
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

// leave closes both files when none of their jobs is left.
func (k plainCopies) leave(ctx context.Context, f *outputFile) error {
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
