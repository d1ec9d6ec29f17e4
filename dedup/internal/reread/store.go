package reread

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs"
)

// Store returns single records after the first pass. Plain files are read in place, and so are records that the
// first pass has kept. Other wanted records are spooled beforehand, in memory or, when that is full, in a file of
// the work folder: those of plain objects by range requests, those of compressed files, which cannot be read at an
// offset, in one more pass over them.
type Store struct {
	Options
	mu      sync.Mutex
	held    map[uint32][]byte  // documents in memory
	size    int64              // size of held
	have    bitset.Set[uint32] // documents in memory or on disk; nil: none
	onDisk  spool
	inPlace []bool // of sources
}

// Options say which records there are.
type Options struct {
	Table   *doctable.Table
	Recipe  recipe.Recipe
	Corpus  corpus.Options
	Layouts *feed.Layouts
	Space   *scratch.Space
	Memory  int64 // of records, in bytes; 0: a share of that of Space
	Kept    *Kept // by the first pass; nil: nothing
}

// heldOverhead is the memory of a record in addition to its bytes.
const heldOverhead = 64

// New returns a store, which the caller closes.
func New(o Options) *Store {
	if o.Memory == 0 {
		o.Memory = o.Space.Share(4)
	}
	s := &Store{Options: o, held: map[uint32][]byte{}, onDisk: spool{space: o.Space}}
	for _, source := range o.Table.Sources {
		s.inPlace = append(s.inPlace, source.InPlace())
	}
	if s.Kept != nil {
		s.Kept.Seal()
	}
	return s
}

func (s *Store) Close() {
	s.onDisk.close()
	s.held = nil
}

// Prepare makes the records of all documents in pairs available.
func (s *Store) Prepare(ctx context.Context, pairs *extsort.Sorted) error {
	if !slices.Contains(s.inPlace, false) {
		return nil
	}
	wanted, err := graph.Docs(pairs, s.Table.Docs)
	if err != nil {
		return err
	}
	return s.PrepareAll(ctx, wanted)
}

// PrepareAll makes the records of documents available. It changes the set.
func (s *Store) PrepareAll(ctx context.Context, wanted bitset.Set[uint32]) error {
	if !slices.Contains(s.inPlace, false) {
		return nil
	}
	t := s.Table
	if s.have == nil {
		s.have = bitset.New[uint32](t.Docs)
	}
	files := map[int]bool{}
	c := t.Scanner()
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if s.inPlace[b.File] {
			continue
		}
		for doc := b.FirstDoc; doc < b.FirstDoc+b.Docs; doc++ {
			if !wanted.Has(doc) {
				continue
			}
			d := c.Doc(doc)
			if c.Err != nil {
				return c.Err
			}
			if s.have.Has(doc) || s.Kept.Has(int(b.File), d.Offset(), d.Length) {
				wanted.Remove(doc)
			} else if !s.Table.Sources[b.File].ByRange() {
				files[int(b.File)] = true
			}
		}
	}
	if err := s.fetchRanges(ctx, wanted); err != nil || len(files) == 0 {
		return err
	}
	return s.spoolRecords(ctx, func(file int) bool { return files[file] }, wanted)
}

// InPlace tells whether the record of a document is read from its file.
func (s *Store) InPlace(doc uint32) bool { return s.inPlace[s.Table.FileOf(doc)] }

// PrepareSets makes the sets of documents available to Sets.
func (s *Store) PrepareSets(ctx context.Context, docs bitset.Set[uint32]) error {
	if s.Table.HasSets {
		return nil
	}
	return s.PrepareAll(ctx, slices.Clone(docs))
}

// spoolRecords reads files once more, with all workers, and keeps the records
// of wanted documents.
func (s *Store) spoolRecords(ctx context.Context, inFiles func(file int) bool, wanted bitset.Set[uint32]) error {
	opener := feed.NewOpener(ctx, s.Table.Sources, s.Corpus, s.Space.Share(8), inFiles)
	f := feed.NewFeeder(s.Table.Sources, opener, s.Layouts, inFiles, nil)
	defer f.Close()
	group, ctx := errgroup.WithContext(ctx)
	for range s.Space.Threads {
		group.Go(func() error {
			var b corpus.Block
			defer b.Release()
			var file *feed.OpenFile
			c := s.Table.Scanner()
			for ctx.Err() == nil {
				var err error
				if file, err = f.Take(file, &b); err == io.EOF {
					return nil
				} else if errors.Is(err, corpus.ErrUnavailable) {
					return err
				} else if err != nil {
					file = nil // reported by the first pass, which saw the same records before it
					continue
				}
				if err := s.spoolBlock(file.Index, &b, c, wanted); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (s *Store) spoolBlock(file int, b *corpus.Block, c *doctable.Cursor, wanted bitset.Set[uint32]) error {
	first, end := s.Table.DocsOfBlock(file, b.Seq)
	for doc := first; doc < end; doc++ {
		if !wanted.Has(doc) {
			continue
		}
		raw, err := c.RawIn(doc, b.Data(), b.Offset)
		if err != nil {
			return err
		}
		if err := s.Put(doc, raw); err != nil {
			return err
		}
	}
	return nil
}

// Put stores a copy of a record, unless there is one.
func (s *Store) Put(doc uint32, raw []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have == nil {
		s.have = bitset.New[uint32](s.Table.Docs)
	}
	s.have.Add(doc)
	if s.Memory == 0 || s.size+int64(len(raw))+heldOverhead <= s.Memory {
		s.held[doc] = append([]byte(nil), raw...)
		s.size += int64(len(raw)) + heldOverhead
		return nil
	}
	return s.onDisk.put(doc, raw)
}

// get returns a stored record: either the one in memory, which must not be changed, or one read
// into dst.
func (s *Store) get(dst []byte, doc uint32) (raw []byte, inMemory bool, err error) {
	s.mu.Lock()
	raw, ok := s.held[doc]
	s.mu.Unlock()
	if ok {
		return raw, true, nil
	}
	raw, err = s.onDisk.get(dst, doc)
	return raw, false, err
}

// has tells whether a record was put.
func (s *Store) has(doc uint32) bool { return s.have != nil && s.have.Has(doc) }

// spool stores records in a file of the work folder. An index file gives their places: 16 bytes for
// each document at its number, mostly a hole.
type spool struct {
	space   *scratch.Space
	data    vfs.File
	index   vfs.File
	written int64
}

const spoolEntry = 16 // offset, length, CRC-32C of the record

func (s *spool) put(doc uint32, raw []byte) (err error) {
	if s.data == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	at := binary.LittleEndian.AppendUint64(make([]byte, 0, spoolEntry), uint64(s.written))
	at = binary.LittleEndian.AppendUint32(at, uint32(len(raw)))
	at = binary.LittleEndian.AppendUint32(at, durable.Checksum(0, raw))
	_, err = s.data.WriteAt(raw, s.written)
	if err == nil {
		_, err = s.index.WriteAt(at, int64(doc)*spoolEntry)
	}
	if err != nil {
		return fault.InWorkFolder(err)
	}
	s.written += int64(len(raw))
	s.space.Spilled(int64(len(raw)) + spoolEntry)
	return nil
}

// create makes both files or, since other workers may still put records, none.
func (s *spool) create() error {
	data, err := s.space.Create("records")
	if err != nil {
		return err
	}
	index, err := s.space.Create("records.index")
	if err != nil {
		return errors.Join(err, data.Close())
	}
	s.data, s.index = data, index
	return nil
}

func (s *spool) get(dst []byte, doc uint32) ([]byte, error) {
	at := make([]byte, spoolEntry)
	if _, err := s.index.ReadAt(at, int64(doc)*spoolEntry); err != nil {
		return nil, fault.InWorkFolder(err)
	}
	dst = scratch.Buffer(dst, int(binary.LittleEndian.Uint32(at[8:])))
	if _, err := s.data.ReadAt(dst, int64(binary.LittleEndian.Uint64(at))); err != nil {
		return nil, fault.InWorkFolder(err)
	}
	if durable.Checksum(0, dst) != binary.LittleEndian.Uint32(at[12:]) {
		return nil, scratch.ErrDamaged
	}
	return dst, nil
}

// close closes the files, which are no longer needed.
func (s *spool) close() {
	for _, f := range []vfs.File{s.data, s.index} {
		if f != nil {
			_ = f.Close()
		}
	}
	s.data, s.index = nil, nil
}

// Fetcher reads single records for one goroutine.
type Fetcher struct {
	ctx    context.Context // of the files that it opens
	s      *Store
	c      *doctable.Cursor
	parser *corpus.Parser
	record corpus.Record
	raw    []byte
	file   int // the open file; -1: none
	open   *corpus.File

	window   []byte // bytes of a plain file, with the last record
	windowAt int64
	lastEnd  int64 // of that record
	ahead    int   // bytes to read at once

	Longest int // of the records that will be asked for, if known
}

// Records that are closer together than nearBytes are read together, more and more of them up to
// aheadBytes: a system call for each would cost as much as all other work on a short record.
const (
	nearBytes  = 4 << 10
	aheadBytes = 128 << 10
)

func (s *Store) NewFetcher(ctx context.Context) *Fetcher {
	return &Fetcher{ctx: ctx, s: s, c: s.Table.Cursor(), parser: corpus.NewParser(s.Corpus), file: -1}
}

func (f *Fetcher) Close() {
	if f.open != nil {
		_ = f.open.Close() // only read
		f.open, f.file = nil, -1
	}
}

// Text returns the text of a document, valid until the next call. Calls with ascending documents
// open every file that is read in place once, and no other.
func (f *Fetcher) Text(doc uint32) ([]byte, error) {
	raw, layout, own, err := f.read(doc)
	if err != nil {
		return nil, err
	}
	f.parser.Overwrite(own)
	f.parser.ParseRaw(layout, raw, &f.record)
	if f.record.Err != nil {
		return nil, f.Changed(doc)
	}
	return f.record.Text, nil
}

// Changed returns the error for a document whose record is no longer what was read first.
func (f *Fetcher) Changed(doc uint32) error {
	return doctable.Changed(f.s.Table.Sources[f.s.Table.FileOf(doc)].Label())
}

// Raw returns the record of a document unchanged from its file, valid as for Text.
func (f *Fetcher) Raw(doc uint32) ([]byte, error) {
	raw, _, _, err := f.read(doc)
	return raw, err
}

// read returns a record, how it must be parsed, and whether it may be overwritten.
func (f *Fetcher) read(doc uint32) (raw []byte, layout corpus.Layout, own bool, err error) {
	d := *f.c.Doc(doc)
	if f.c.Err != nil {
		return nil, layout, false, f.c.Err
	}
	file := f.s.Table.FileOf(doc)
	f.Trim(int(d.Length))
	if f.s.inPlace[file] {
		return f.readInPlace(file, &d)
	}
	return f.readSpooled(file, doc, &d)
}

// readSpooled returns a record of a source that cannot be read in place; it was kept or spooled.
func (f *Fetcher) readSpooled(file int, doc uint32, d *doctable.Document) (raw []byte, l corpus.Layout, own bool, err error) {
	kept := f.s.Kept.Has(file, d.Offset(), d.Length)
	if !kept && !f.s.has(doc) {
		return nil, l, false, doctable.Changed(f.s.Table.Sources[file].Label()) // spooling has found an earlier end of the file
	}
	if l, err = f.s.Layouts.Find(f.ctx, file, f.s.Table.Sources[file], f.s.Corpus); err != nil {
		return nil, l, false, err
	}
	f.raw = f.room(f.raw, int(d.Length)+2*keptPage)
	var inMemory bool
	if kept {
		raw, inMemory, err = f.s.Kept.Record(f.raw, file, d.Offset(), d.Length)
	} else {
		raw, inMemory, err = f.s.get(f.raw, doc)
	}
	return raw, l, !inMemory, err
}

// readInPlace returns a record of a plain file.
func (f *Fetcher) readInPlace(file int, d *doctable.Document) (raw []byte, l corpus.Layout, own bool, err error) {
	if file != f.file {
		f.Close()
		opened, err := corpus.Open(f.ctx, f.s.Table.Sources[file], f.s.Corpus)
		if err != nil {
			return nil, l, false, err
		}
		f.open, f.file = opened, file
		f.window, f.windowAt, f.lastEnd = f.window[:0], 0, -1
	}
	raw, own, err = f.readWindow(f.open.ReaderAt(), d)
	return raw, f.open.Layout(), own, err
}

// readWindow returns a record of the open file through the window, and whether it may be
// overwritten.
func (f *Fetcher) readWindow(at io.ReaderAt, d *doctable.Document) (raw []byte, own bool, err error) {
	if at == nil {
		return nil, false, doctable.Changed(f.open.Source().Label()) // it is no longer a regular file
	}
	start, end := d.Offset(), d.Offset()+int64(d.Length)
	if start < f.windowAt || end > f.windowAt+int64(len(f.window)) {
		if gap := start - f.lastEnd; gap >= 0 && gap <= nearBytes {
			f.ahead = min(max(2*f.ahead, nearBytes), aheadBytes)
		} else {
			f.ahead = 0
		}
		f.window, f.windowAt = f.room(f.window, max(int(d.Length), f.ahead)), start
		n, err := at.ReadAt(f.window, start)
		f.window = f.window[:n]
		if n < int(d.Length) {
			if errors.Is(err, io.EOF) {
				return nil, false, doctable.Changed(f.open.Source().Label())
			}
			return nil, false, err
		}
	}
	f.lastEnd = end
	raw = f.window[start-f.windowAt : end-f.windowAt]
	if own = len(raw) > aheadBytes; own { // it fills the window alone
		f.window = f.window[:0]
	}
	return raw, own, nil
}

// room returns buf, or another one, with length n. A buffer for a long record has room for the
// longest, so that it is made only once.
func (f *Fetcher) room(buf []byte, n int) []byte {
	if n > max(aheadBytes, cap(buf)) {
		return make([]byte, n, max(n, f.Longest))
	}
	return scratch.Buffer(buf, n)
}

// Trim gives back the memory that an unusually long record has left, and the memory that is too
// small for the next record, of next bytes: they must not both exist.
func (f *Fetcher) Trim(next int) {
	for _, buf := range []*[]byte{&f.window, &f.raw} {
		if cap(*buf) > 8*aheadBytes && (next <= aheadBytes || next > cap(*buf)) {
			*buf = nil
		}
	}
	f.record = corpus.Record{} // it refers to them
	f.parser.Trim()
}
