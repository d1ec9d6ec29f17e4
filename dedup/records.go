package dedup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
)

// recordStore gives single records again after the first pass. Plain files are
// read in place. The records wanted of other sources are spooled beforehand, in
// memory or, when that is full, in a file of the work folder: those of plain
// objects by requests for where they lie, those of compressed files, which have
// no place to read from, in one more pass over them.
type recordStore struct {
	r     *run
	limit int64 // bytes in memory; 0: any number

	mu      sync.Mutex
	held    map[uint32][]byte // documents in memory
	size    int64             // of those
	have    bitset            // documents in memory or on disk; nil: none
	onDisk  spool
	inPlace []bool // of sources
}

// heldOverhead is what a record in memory costs besides its bytes.
const heldOverhead = 64

func newRecordStore(r *run) *recordStore {
	s := &recordStore{r: r, limit: r.work.share(4), held: map[uint32][]byte{}, onDisk: spool{work: r.work}}
	for _, source := range r.sources {
		s.inPlace = append(s.inPlace, source.InPlace())
	}
	return s
}

func (s *recordStore) close() {
	s.onDisk.close()
	s.held = nil
}

// prepare makes the records of all documents in pairs available.
func (s *recordStore) prepare(ctx context.Context, pairs *extsort.Sorted) error {
	if !slices.Contains(s.inPlace, false) {
		return nil
	}
	wanted := newBitset(s.r.table.n)
	err := each(pairs, func(e extsort.Entry) error {
		p := pairOf(e.Key)
		wanted.add(p.a)
		wanted.add(p.b)
		return nil
	})
	if err != nil {
		return err
	}
	return s.prepareAll(ctx, wanted)
}

// prepareAll makes the records of documents available. It changes the set.
func (s *recordStore) prepareAll(ctx context.Context, wanted bitset) error {
	if !slices.Contains(s.inPlace, false) {
		return nil
	}
	t := s.r.table
	if s.have == nil {
		s.have = newBitset(t.n)
	}
	files := map[int]bool{}
	for i := range t.blocks {
		b := &t.blocks[i]
		if s.inPlace[b.file] {
			continue
		}
		for doc := b.firstDoc; doc < b.firstDoc+b.docs; doc++ {
			if s.have.has(doc) {
				wanted.remove(doc)
			} else if wanted.has(doc) && !s.r.sources[b.file].ByRange() {
				files[int(b.file)] = true
			}
		}
	}
	if err := s.fetchRanges(ctx, wanted); err != nil || len(files) == 0 {
		return err
	}
	return s.spoolRecords(ctx, func(file int) bool { return files[file] }, wanted)
}

// spoolRecords reads files once more, with all workers, and keeps the records
// of wanted documents.
func (s *recordStore) spoolRecords(ctx context.Context, inFiles func(file int) bool, wanted bitset) error {
	opener := newOpener(ctx, s.r.sources, s.r.config.Corpus, s.r.work.share(8), inFiles)
	f := newFeeder(s.r.sources, opener, &s.r.layouts, inFiles, nil)
	defer f.close()
	group, ctx := errgroup.WithContext(ctx)
	for range s.r.config.Threads {
		group.Go(func() error {
			var b corpus.Block
			defer b.Release()
			var file *openFile
			c := s.r.table.scanner()
			for ctx.Err() == nil {
				var err error
				if file, err = f.take(file, &b); err == io.EOF {
					return nil
				} else if errors.Is(err, corpus.ErrUnavailable) {
					return err
				} else if err != nil {
					file = nil // reported by the first pass, which saw the same records before it
					continue
				}
				if err := s.spoolBlock(file.index, &b, c, wanted); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (s *recordStore) spoolBlock(file int, b *corpus.Block, c *cursor, wanted bitset) error {
	first, end := s.r.table.docsOfBlock(file, b.Seq)
	for doc := first; doc < end; doc++ {
		if !wanted.has(doc) {
			continue
		}
		raw, err := c.rawIn(doc, b)
		if err != nil {
			return err
		}
		if err := s.put(doc, raw); err != nil {
			return err
		}
	}
	return nil
}

// put keeps a copy of a record.
func (s *recordStore) put(doc uint32, raw []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have.add(doc)
	if s.limit == 0 || s.size+int64(len(raw))+heldOverhead <= s.limit {
		s.held[doc] = append([]byte(nil), raw...)
		s.size += int64(len(raw)) + heldOverhead
		return nil
	}
	return s.onDisk.put(doc, raw)
}

// get returns a record that was put: one that is in memory, which must stay as it
// is, or one read into dst.
func (s *recordStore) get(dst []byte, doc uint32) (raw []byte, inMemory bool, err error) {
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
func (s *recordStore) has(doc uint32) bool { return s.have != nil && s.have.has(doc) }

// spool keeps records in a file of the work folder. An index file says where: 16
// bytes a document at its number, mostly a hole.
type spool struct {
	work    *workspace
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
		return workError(err)
	}
	s.written += int64(len(raw))
	s.work.Spilled(int64(len(raw)) + spoolEntry)
	return nil
}

// create makes both files or, since other workers may still put records, none.
func (s *spool) create() error {
	data, err := s.work.Create("records")
	if err != nil {
		return err
	}
	index, err := s.work.Create("records.index")
	if err != nil {
		return errors.Join(err, data.Close())
	}
	s.data, s.index = data, index
	return nil
}

func (s *spool) get(dst []byte, doc uint32) ([]byte, error) {
	at := make([]byte, spoolEntry)
	if _, err := s.index.ReadAt(at, int64(doc)*spoolEntry); err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	dst = grow(dst, int(binary.LittleEndian.Uint32(at[8:])))
	if _, err := s.data.ReadAt(dst, int64(binary.LittleEndian.Uint64(at))); err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	if durable.Checksum(0, dst) != binary.LittleEndian.Uint32(at[12:]) {
		return nil, errDamaged
	}
	return dst, nil
}

// close closes the files, of which nothing is needed any more.
func (s *spool) close() {
	for _, f := range []vfs.File{s.data, s.index} {
		if f != nil {
			_ = f.Close()
		}
	}
	s.data, s.index = nil, nil
}

func changed(path string) error {
	return fmt.Errorf("%s: %w: leave the input alone during a run and start it again", fault.Shown(path), corpus.ErrChanged)
}

// fetcher reads single records for one goroutine.
type fetcher struct {
	ctx    context.Context // of the files that it opens
	s      *recordStore
	c      *cursor
	parser *corpus.Parser
	record corpus.Record
	raw    []byte
	file   int // that is open; -1 when none
	open   *corpus.File

	window   []byte // of a plain file, with the last record
	windowAt int64
	lastEnd  int64 // of that record
	ahead    int   // bytes to read at once

	longest int // of the records that will be asked for, if that is known
}

// Records that lie closer together than nearBytes are read together, more and
// more of them up to aheadBytes: a call of the system for each would cost as much
// as all else that is done with a short record.
const (
	nearBytes  = 4 << 10
	aheadBytes = 128 << 10
)

func (s *recordStore) newFetcher(ctx context.Context) *fetcher {
	return &fetcher{ctx: ctx, s: s, c: s.r.table.cursor(), parser: corpus.NewParser(s.r.config.Corpus), file: -1}
}

func (f *fetcher) close() {
	if f.open != nil {
		_ = f.open.Close() // only read
		f.open, f.file = nil, -1
	}
}

// text returns the text of a document, valid until the next call. Calls with
// ascending documents open every file that is read in place once, and no other.
func (f *fetcher) text(doc uint32) ([]byte, error) {
	d := *f.c.doc(doc)
	if f.c.err != nil {
		return nil, f.c.err
	}
	file := int(f.c.block.file)
	f.trim(int(d.length))
	var raw []byte
	var layout corpus.Layout
	var own bool // raw may be overwritten
	var err error
	if f.s.inPlace[file] {
		raw, layout, own, err = f.readInPlace(file, &d)
	} else {
		raw, layout, own, err = f.readSpooled(file, doc, &d)
	}
	if err != nil {
		return nil, err
	}
	f.parser.Overwrite(own)
	f.parser.ParseRaw(layout, raw, &f.record)
	if f.record.Err != nil {
		return nil, changed(f.s.r.sources[file].Label())
	}
	return f.record.Text, nil
}

// readSpooled returns a record of a source that is not read in place.
func (f *fetcher) readSpooled(file int, doc uint32, d *document) (raw []byte, l corpus.Layout, own bool, err error) {
	r := f.s.r
	if !f.s.has(doc) {
		return nil, l, false, changed(r.sources[file].Label()) // its spooling has met an earlier end
	}
	if l, err = r.layouts.find(f.ctx, file, r.sources[file], r.config.Corpus); err != nil {
		return nil, l, false, err
	}
	f.raw = f.room(f.raw, int(d.length))
	raw, inMemory, err := f.s.get(f.raw, doc)
	return raw, l, !inMemory, err
}

// readInPlace returns a record of a plain file.
func (f *fetcher) readInPlace(file int, d *document) (raw []byte, l corpus.Layout, own bool, err error) {
	if file != f.file {
		f.close()
		opened, err := corpus.Open(f.ctx, f.s.r.sources[file], f.s.r.config.Corpus)
		if err != nil {
			return nil, l, false, err
		}
		f.open, f.file = opened, file
		f.window, f.windowAt, f.lastEnd = f.window[:0], 0, -1
	}
	raw, own, err = f.readWindow(f.open.ReaderAt(), d)
	return raw, f.open.Layout(), own, err
}

// readWindow returns a record of the open file by way of the window, and whether it may
// be overwritten.
func (f *fetcher) readWindow(at io.ReaderAt, d *document) (raw []byte, own bool, err error) {
	if at == nil {
		return nil, false, changed(f.open.Source().Label()) // it is no regular file any more
	}
	start, end := d.offset, d.offset+int64(d.length)
	if start < f.windowAt || end > f.windowAt+int64(len(f.window)) {
		if gap := start - f.lastEnd; gap >= 0 && gap <= nearBytes {
			f.ahead = min(max(2*f.ahead, nearBytes), aheadBytes)
		} else {
			f.ahead = 0
		}
		f.window, f.windowAt = f.room(f.window, max(int(d.length), f.ahead)), start
		n, err := at.ReadAt(f.window, start)
		f.window = f.window[:n]
		if n < int(d.length) {
			if errors.Is(err, io.EOF) {
				return nil, false, changed(f.open.Source().Label())
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

// room returns buf, or another one, with length n. One for a long record has room
// for the longest, so that it is made once.
func (f *fetcher) room(buf []byte, n int) []byte {
	if n > max(aheadBytes, cap(buf)) {
		return make([]byte, n, max(n, f.longest))
	}
	return grow(buf, n)
}

// trim gives back the memory that an uncommonly long record has left, and that
// which the next one, of so many bytes, does not fit in: not both are to be there.
func (f *fetcher) trim(next int) {
	for _, buf := range []*[]byte{&f.window, &f.raw} {
		if cap(*buf) > 8*aheadBytes && (next <= aheadBytes || next > cap(*buf)) {
			*buf = nil
		}
	}
	f.record = corpus.Record{} // views of them
	f.parser.Trim()
}

// rawIn returns a document's record in its block, read once more.
func (c *cursor) rawIn(doc uint32, b *corpus.Block) ([]byte, error) {
	d := c.doc(doc)
	if c.err != nil {
		return nil, c.err
	}
	start := d.offset - b.Offset
	data := b.Data()
	if start < 0 || start+int64(d.length) > int64(len(data)) {
		return nil, changed(c.label(doc))
	}
	return data[start : start+int64(d.length)], nil
}
