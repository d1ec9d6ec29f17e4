package write

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/splice"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/vfs"
)

// rewrite copies the kept records of a file that cannot be read in place.
func (k *keptWriter) rewrite(ctx context.Context, file int, path string) (err error) {
	source := k.Table.Sources[file]
	reading, part := source.Compression.Memory()
	granted, err := k.room.take(ctx, reading+part, reading+part*int64(k.Space.Threads+1))
	if err != nil {
		return err
	}
	defer k.room.giveBack(granted)
	in, err := k.opener.Open(file)
	if err != nil {
		first, end := k.Table.DocsOfFile(file)
		return unlessEmpty(first, end, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	w, err := createOn(k.out.fs, path, source.Compression, k.Space.Threads)
	if err != nil {
		return outputError(err)
	}
	w.Limit(granted - reading)
	if err := k.copyStream(ctx, file, in, w); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return outputError(err)
	}
	return k.whole(ctx, file, path)
}

// copyStream copies the records of a file that is read from its beginning: all of it or, if the first pass has kept what
// it has decoded, the first block, which tells what stands before the records.
func (k *keptWriter) copyStream(ctx context.Context, file int, in *corpus.File, w *corpus.Writer) (err error) {
	var b corpus.Block
	defer b.Release()
	from := feed.OpenFile{File: in}
	c := &streamCopy{keptWriter: k, w: w, docs: k.Table.Scanner(), file: file, cuts: k.newRecordCutter(in)}
	defer func() { err = errors.Join(err, c.close()) }()
	first, end := k.Table.DocsOfFile(file)
	kept := k.Kept.Whole(k.Table, file)
	for next, begun := first, false; ctx.Err() == nil; begun = true {
		err := in.Next(&b)
		if !begun { // a byte order mark is known only now
			if err := c.begin(in, first); err != nil {
				return err
			}
		}
		if err != nil {
			return unlessEmpty(next, end, err) // the end, or damage that the first pass has reported
		}
		blockEnd, err := c.block(b.Seq, b.Offset, b.Data())
		if err != nil {
			return err
		}
		next = max(next, blockEnd)
		k.Progress.Advance(0, from.Advance())
		if kept != nil {
			return c.kept(ctx, kept, b.Seq)
		}
	}
	return ctx.Err()
}

// streamCopy copies the records of one file to its output.
type streamCopy struct {
	*keptWriter
	w    *corpus.Writer
	docs *doctable.Cursor
	file int
	cuts *recordCutter
	tags *recordTagger // nil: records are copied as they are
}

// begin writes what stands before the records.
func (c *streamCopy) begin(in *corpus.File, first uint32) error {
	c.w.PackLike(in)
	header := headerOf(in)
	if c.Tags != nil && tagging.Carry(c.Table.Sources[c.file].Format) {
		c.tags = &recordTagger{c.newTagger(first), c.Tags.Records(in)}
		header = c.tags.to.Header(header)
	}
	if _, err := c.w.Write(header); err != nil {
		return outputError(err)
	}
	return nil
}

// kept copies the blocks behind one from what the first pass has kept.
func (c *streamCopy) kept(ctx context.Context, blocks *reread.Blocks, behind int64) error {
	size := c.Table.Sources[c.file].Size
	for ctx.Err() == nil {
		before := blocks.Read(size)
		seq, offset, data, ok, err := blocks.Next()
		if err != nil || !ok {
			return err
		}
		if seq > behind {
			if _, err := c.block(seq, offset, data); err != nil {
				return err
			}
			c.Progress.Advance(0, blocks.Read(size)-before)
		}
	}
	return ctx.Err()
}

// block copies the kept records of a block, whose data begin at an offset of the decoded file. It returns the end of its
// documents.
func (c *streamCopy) block(seq, offset int64, data []byte) (end uint32, err error) {
	doc, end := c.Table.DocsOfBlock(c.file, seq)
	items, bytes := int64(0), int64(0)
	for ; doc < end; doc++ {
		wanted := c.Wanted != nil && c.Wanted.Has(doc)
		if !wanted && !c.keeps(doc) {
			continue
		}
		raw, err := c.docs.RawIn(doc, data, offset)
		if err != nil {
			return end, err
		}
		if wanted {
			if err := c.Want(doc, raw); err != nil {
				return end, err
			}
		}
		if !c.keeps(doc) {
			continue
		}
		items++
		bytes += int64(len(raw))
		if raw, err = c.cuts.record(doc, raw); err != nil {
			return end, err
		}
		if c.tags != nil {
			if raw, err = c.tags.record(doc, raw); err != nil {
				return end, err
			}
		}
		if _, err := c.w.Write(raw); err != nil {
			return end, outputError(err)
		}
	}
	c.count(items, bytes, 0)
	return end, nil
}

func (c *streamCopy) close() error {
	if c.tags == nil {
		return nil
	}
	return c.tags.close()
}

// headerOf returns what stands in a file before its first record: of a text the mark is a part of that.
func headerOf(in *corpus.File) []byte {
	if source := in.Source(); source.Format == corpus.Text {
		return nil
	}
	return in.Header()
}

// copyRows copies the kept rows of a Parquet file, or finds that some are lost.
func (k *keptWriter) copyRows(ctx context.Context, file int, path string) (err error) {
	source := k.Table.Sources[file]
	how := corpus.RowCopy{Threads: k.Space.Threads}
	if how.PageMemory, err = k.room.take(ctx, 0, copyRowsBytes*int64(how.Threads)); err != nil {
		return err
	}
	defer k.room.giveBack(how.PageMemory)
	first, end := k.Table.DocsOfFile(file)
	if first == end { // perhaps none of its columns is the text: then it has no output
		in, err := corpus.Open(ctx, source, k.Corpus)
		if err != nil {
			return unlessEmpty(first, end, err)
		}
		_ = in.Close() // only read
	}
	c := k.newRowDocs(file)
	items, bytes := int64(0), int64(0)
	keep := func(row int64) bool {
		doc, ok := c.find(row)
		if !ok || !k.keeps(doc) {
			return false // not a document, or a removed one
		}
		items++
		bytes += int64(c.Doc(doc).Length)
		return c.Err == nil
	}
	if k.Tags != nil {
		tags := k.newRowTagger(file)
		defer func() { err = errors.Join(err, tags.close()) }()
		how.Extra = tags.rows
	}
	if k.cutsSome(first, end) {
		texts, err := k.newRowTexts(ctx, file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, texts.close()) }()
		how.Text = texts.text
	}
	w, err := createOn(k.out.fs, path, corpus.Plain, 1)
	if err != nil {
		return outputError(err)
	}
	defer w.Abort()
	if err = corpus.CopyRows(ctx, w, source, k.Corpus, how, keep); err == nil && c.Err == nil {
		err = w.Commit()
	}
	var reason *corpus.Problem
	switch {
	case c.Err != nil:
		return c.Err
	case errors.As(err, &reason) && isLost(err):
		return k.cannotCopy(ctx, file, path, reason)
	case err != nil:
		return outputError(err)
	}
	k.count(items, bytes, source.Size)
	return k.whole(ctx, file, path)
}

// createOn is corpus.Create on a file system.
func createOn(on vfs.FS, path string, c corpus.Compression, threads int) (*corpus.Writer, error) {
	to, err := durable.Create(on, path)
	if err != nil {
		return nil, err
	}
	return corpus.NewWriter(to, c, threads)
}

// unlessEmpty returns err if the first pass has found documents where reading now fails: then this
// run has failed, and it is not the known state of a file.
func unlessEmpty(first, end uint32, err error) error {
	if first == end {
		return nil
	}
	if err == io.EOF { // compared directly: a network error may wrap one
		return corpus.ErrChanged
	}
	return err
}

// recordCutter cuts spans out of the records of one open file.
type recordCutter struct {
	k       *keptWriter
	file    *corpus.File
	splicer *splice.Splicer // nil: nothing was cut yet
	spans   func(doc uint32) ([]splice.Span, error)
	out     []byte
}

func (k *keptWriter) newRecordCutter(file *corpus.File) *recordCutter {
	return &recordCutter{k: k, file: file}
}

// record returns a record without what is cut out of it, until the next call.
func (r *recordCutter) record(doc uint32, raw []byte) ([]byte, error) {
	if r.k.Cut == nil || !r.k.Cuts.Has(doc) {
		return raw, nil
	}
	if r.splicer == nil {
		r.splicer, r.spans = splice.NewSplicer(r.file, &r.k.Corpus), r.k.Cut()
	}
	spans, err := r.spans(doc)
	r.out = r.splicer.Append(r.out[:0], raw, spans)
	return r.out, err
}

// memory divides the memory of the last stage among the files that are decoded and compressed, or
// copied row by row, at the same time. A file takes all its memory at once, before it is opened, so
// no file waits while it holds memory that another one needs.
type memory struct {
	size int64 // in bytes; 0: no limit
	left *semaphore.Weighted
}

// copyRowsBytes is the memory of one thread for pages of a Parquet file.
const copyRowsBytes = 48 << 20

func newMemory(size int64) *memory {
	return &memory{size: size, left: semaphore.NewWeighted(size)}
}

// take waits for the memory of one file: most bytes, or all memory if that is less, which may even
// be less than least. Then the file is written alone: it cannot be written with less. The caller
// gives back what is granted.
func (w *memory) take(ctx context.Context, least, most int64) (granted int64, err error) {
	if w.size == 0 {
		return most, nil
	}
	if err := w.left.Acquire(ctx, min(most, w.size)); err != nil {
		return 0, err
	}
	return max(min(most, w.size), least), nil
}

// giveBack returns the memory of a file.
func (w *memory) giveBack(granted int64) {
	if w.size > 0 {
		w.left.Release(min(granted, w.size))
	}
}

// LostRows are the last rows of a file, which cannot be copied.
type LostRows struct {
	File int
	Rows int64 // whole rows before them
	Line int64 // line of the problem
	Kind byte
	Text string // by setting.Mark
}

// cannotCopy decides what happens to a Parquet file whose rows could not be copied, for a reason
// that lies in the file.
func (k *keptWriter) cannotCopy(ctx context.Context, file int, path string, reason *corpus.Problem) error {
	if err := k.out.drop(ctx, KeptFolder+"/"+k.Table.Sources[file].Name, path); err != nil {
		return err
	}
	most, err := k.rowBehind(file)
	if err != nil || most == 0 {
		return err // all problems of the file are known already
	}
	rows, damage, err := corpus.WholeRows(ctx, k.Table.Sources[file], k.Corpus)
	if err != nil {
		return err
	}
	if damage == nil || rows >= most { // leaving out other rows would not help
		rows, damage = 0, reason
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = append(k.lost, LostRows{File: file, Rows: rows, Line: damage.Line, Kind: fault.KindNumber(damage.Err), Text: setting.Mark(damage.Err)})
	return nil
}

// rowBehind returns the row behind the last document of a file that is not skipped,
// 0 if there is none.
func (k *keptWriter) rowBehind(file int) (int64, error) {
	t := k.Table
	c := t.Cursor()
	first, end := t.DocsOfFile(file)
	for doc := end; doc > first; doc-- {
		if !t.Skipped.Has(doc - 1) {
			return c.Line(doc - 1), c.Err
		}
	}
	return 0, nil
}

// isLost tells whether an error of copying rows is permanent and lies in the file: it is neither an
// outage nor a change.
func isLost(err error) bool {
	return !errors.Is(err, corpus.ErrUnavailable) &&
		(errors.Is(err, corpus.ErrCorrupt) || errors.Is(err, corpus.ErrTruncated) || errors.Is(err, corpus.ErrUnsupported))
}

// drop removes an output file that an earlier round may have written.
func (o *Folder) drop(ctx context.Context, name, path string) error {
	err := o.fs.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	o.mu.Lock()
	uploaded := slices.Contains(o.uploaded, name)
	o.mu.Unlock()
	if uploaded {
		err = errors.Join(err, o.remote.Remove(ctx, name))
	}
	if err != nil {
		return outputError(err)
	}
	return nil
}
