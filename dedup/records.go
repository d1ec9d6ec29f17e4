package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
)

// recordStore gives single records again after the first pass. Plain files are
// read in place. A compressed file has no place to read from, so the records
// wanted of it are spooled in one more pass over it.
type recordStore struct {
	t      *table
	config *Config
	spool  *spool

	mu    sync.Mutex
	spans map[uint32]span // of spooled documents
}

func newRecordStore(t *table, config *Config, dir *workDir) *recordStore {
	return &recordStore{t: t, config: config, spool: newSpool(dir, spoolLimit(config)), spans: map[uint32]span{}}
}

// spoolLimit is the share of the memory budget for spooled records.
func spoolLimit(config *Config) int64 {
	if config.Memory > 0 {
		return config.Memory / 4
	}
	return 1 << 62
}

func (s *recordStore) close() { s.spool.close() }

// inPlace tells whether records of a file can be read where they are.
func (s *recordStore) inPlace(file int) bool {
	return s.t.sources[file].Compression == corpus.Plain
}

// prepare makes the records of all documents in pairs available.
func (s *recordStore) prepare(ctx context.Context, pairs []pair) error {
	wanted := map[uint32]bool{}
	files := map[int]bool{}
	for _, p := range pairs {
		for _, doc := range [2]uint32{p.a, p.b} {
			if _, there := s.spans[doc]; there || s.inPlace(s.t.fileOf(doc)) {
				continue
			}
			wanted[doc] = true
			files[s.t.fileOf(doc)] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return s.spoolRecords(ctx, func(file int) bool { return files[file] }, wanted)
}

// spoolRecords reads files once more, with all workers, and keeps the records
// of wanted documents.
func (s *recordStore) spoolRecords(ctx context.Context, inFiles func(file int) bool, wanted map[uint32]bool) error {
	f := newFeeder(s.t.sources, s.config.Corpus, inFiles)
	defer f.close()
	group, ctx := errgroup.WithContext(ctx)
	for range s.config.Threads {
		group.Go(func() error {
			var b corpus.Block
			var file *openFile
			for ctx.Err() == nil {
				var err error
				if file, err = f.take(file, &b); err == io.EOF {
					return nil
				} else if err != nil {
					file = nil // reported by the first pass, which saw the same records before it
					continue
				}
				if err := s.spoolBlock(file.index, &b, wanted); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (s *recordStore) spoolBlock(file int, b *corpus.Block, wanted map[uint32]bool) error {
	first, end := s.t.docsOfBlock(file, b.Seq)
	for doc := first; doc < end; doc++ {
		if !wanted[doc] {
			continue
		}
		raw, err := s.t.rawIn(doc, b)
		if err != nil {
			return err
		}
		at, err := s.spool.put(raw)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.spans[doc] = at
		s.mu.Unlock()
	}
	return nil
}

func changed(path string) error {
	return fmt.Errorf("%s: %w: leave the input alone during a run and start it again", path, corpus.ErrChanged)
}

// fetcher reads single records for one goroutine.
type fetcher struct {
	s      *recordStore
	parser *corpus.Parser
	record corpus.Record
	raw    []byte
	file   int // that is open; -1 when none
	open   *corpus.File
}

func (s *recordStore) newFetcher() *fetcher {
	return &fetcher{s: s, parser: corpus.NewParser(s.config.Corpus), file: -1}
}

func (f *fetcher) close() {
	if f.open != nil {
		_ = f.open.Close() // only read
		f.open, f.file = nil, -1
	}
}

// text returns the text of a document, valid until the next call. Calls with
// ascending documents open every file once.
func (f *fetcher) text(doc uint32) ([]byte, error) {
	t := f.s.t
	file := t.fileOf(doc)
	if file != f.file {
		f.close()
		opened, err := corpus.Open(t.sources[file], f.s.config.Corpus)
		if err != nil {
			return nil, err
		}
		f.open, f.file = opened, file
	}
	raw, err := f.read(doc, file)
	if err != nil {
		return nil, err
	}
	f.parser.ParseRaw(f.open, raw, &f.record)
	if f.record.Err != nil {
		return nil, changed(t.sources[file].Label())
	}
	return f.record.Text, nil
}

func (f *fetcher) read(doc uint32, file int) ([]byte, error) {
	if at, ok := f.s.spans[doc]; ok {
		raw, err := f.s.spool.get(f.raw, at)
		return raw, err
	}
	at := f.open.ReaderAt()
	if at == nil {
		return nil, changed(f.s.t.sources[file].Label()) // its spooling has met an earlier end
	}
	d := &f.s.t.docs[doc]
	f.raw = grow(f.raw, int(d.length))
	if _, err := at.ReadAt(f.raw, d.offset); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, changed(f.s.t.sources[file].Label())
		}
		return nil, err
	}
	return f.raw, nil
}
