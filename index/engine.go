package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	pebblefs "github.com/cockroachdb/pebble/v2/vfs"
)

// An engine is Pebble, guarded: a write that fails ends all later ones with its error, where Pebble would end the
// process. Any number of goroutines may read. keys.go describes the keys.
type engine struct {
	db          *pebble.DB
	options     *pebble.Options
	onDisk      bool  // keys too: see settled.go
	cache       int64 // bytes; 0: the default
	filterBytes int64 // of a document
	pieceSize   int   // of records in pieces

	long    atomic.Bool           // whether there may be records in pieces
	failed  atomic.Pointer[error] // why Pebble has stopped for good
	broken  chan struct{}         // closed when failed is set
	stopped func()                // called once after that
}

// memTableSize is how many bytes Pebble collects in memory before it writes a table; memTablesAtOnce is how
// many such tables may be in memory.
const (
	memTableSize    = 32 << 20
	memTablesAtOnce = 4
	memTablesMostly = 2 // one is filled while one is written
)

// defaultCache is how many bytes of the store are cached in memory; keysCache is the same with KeysOnDisk,
// where each look-up reads the store.
const (
	defaultCache = 64 << 20
	keysCache    = 256 << 20
)

// setOptions sets the options for Pebble, and returns them.
func (e *engine) setOptions(fsys pebblefs.FS, readOnly bool, memTable uint64) *pebble.Options {
	if e.cache == 0 {
		e.cache = defaultCache
		if e.onDisk {
			e.cache = keysCache
		}
	}
	cache := e.cache
	// Pebble takes its tables in memory out of the cache, which would leave nothing of a small one: then each look-up of
	// an id reads filters anew (4 × the time of index add of 300 MB to an index with ids).
	if !readOnly {
		cache += memTablesMostly * int64(memTable)
	}
	o := &pebble.Options{
		FS: fsys, ReadOnly: readOnly, FormatMajorVersion: pebble.FormatNewest,
		CacheSize: cache, MemTableSize: memTable, MemTableStopWritesThreshold: memTablesAtOnce, L0StopWritesThreshold: 24,
		Logger: (*engineLogger)(e),
		// The reader gets the error; without this listener Pebble would end the process.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // many ids that are looked up are not in the store
		o.Levels[i].BlockSize = 8 << 10                   // a record is read with its block
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.FastestCompression }
	}
	// Pebble soon rewrites the tables of level 0.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	if !e.onDisk {
		// Of a stream every flush overlaps all others, since its records come before its blocks: to merge four of them at a
		// time costs a fifth of the processor seconds of stream --state (300,000 documents of 1.1 kB: 9.1 s, with twelve 7.3).
		// Look-ups of keys on disk would ask each of them.
		o.L0CompactionThreshold = 12
	}
	if e.onDisk {
		o.Comparer = bucketOrder
		for i := range o.TargetFileSizes {
			o.TargetFileSizes[i] = tableFile
			o.Levels[i].BlockSize = 4 << 10 // a look-up of a key that exists reads one block
		}
	}
	o.EnsureDefaults()
	e.options = o
	return o
}

// engineLogger is an engine as Pebble's logger.
type engineLogger engine

func (*engineLogger) Infof(string, ...any) {}

func (*engineLogger) Errorf(string, ...any) {}

// Pebble calls Fatalf when it cannot go on. It must not return.
func (l *engineLogger) Fatalf(format string, args ...any) {
	(*engine)(l).fail(fmt.Errorf(format, args...))
	select {} // see guarded
}

func (e *engine) open(dir string, o *pebble.Options) error {
	return e.do(func() (err error) {
		e.db, err = pebble.Open(dir, o)
		return err
	})
}

// fail records why Pebble cannot go on.
func (e *engine) fail(err error) {
	if e.failed.CompareAndSwap(nil, &err) {
		close(e.broken)
		e.stopped()
	}
}

func (e *engine) err() error {
	if err := e.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// do calls a write of Pebble. It returns when the write has returned, or when the write has failed and will
// never return: see guarded.
func (e *engine) do(write func() error) error {
	if err := e.err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- write() }()
	select {
	case err := <-done:
		return err
	case <-e.broken:
		return e.err()
	}
}

// flush writes everything that Pebble has in memory to tables.
func (e *engine) flush() error { return e.do(e.db.Flush) }

func (e *engine) ingest(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	return e.do(func() error { return e.db.Ingest(context.Background(), paths) })
}

// metrics returns Pebble's metrics. A failed Pebble may never return them: see guarded.
func (e *engine) metrics() (*pebble.Metrics, error) {
	var m *pebble.Metrics
	if err := e.do(func() error { m = e.db.Metrics(); return nil }); err != nil {
		return nil, err // m may still be set later
	}
	return m, nil
}

// hasKey tells whether the store has a key of any kind.
func (e *engine) hasKey(key []byte) bool {
	_, closer, err := e.db.Get(key)
	return err == nil && closer.Close() == nil
}

// each calls visit for the values of a kind, with their slots, from a slot up to but not including another.
func (e *engine) each(kind byte, from, to uint64, visit func(slot uint64, value []byte) error) error {
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: slotKey(nil, kind, from), UpperBound: slotKey(nil, kind, to)})
	if err != nil {
		return asDamage(err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var slot uint64
		var value []byte
		if slot, err = parseSlotKey(it.Key()); err == nil {
			if value, err = it.ValueAndErr(); err == nil {
				err = visit(slot, value)
			}
		}
	}
	return asDamage(errors.Join(err, it.Close()))
}

// ofKind returns an iterator over the keys of a kind.
func (e *engine) ofKind(kind byte) (*pebble.Iterator, error) {
	return e.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
}

func (e *engine) note(name string) ([]byte, error) {
	value, closer, err := e.db.Get(append([]byte{keyNote}, name...))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("note %q: %w", name, asDamage(err))
	}
	note, err := parseNote(name, value)
	return note, errors.Join(err, closer.Close())
}

// idLookup looks up ids as they were when it was made. The caller closes it.
type idLookup struct {
	it  *pebble.Iterator
	key []byte
}

// newIDLookup returns a look-up for the ids of now, of which there are up to so many. Most ids that are looked up are not in the store. Bloom
// filters tell that, but Pebble asks the filters of the lowest level, where nearly all ids are, only on
// request. That pays only if they fit in the cache, since the filter of a table is read as a whole.
func (e *engine) newIDLookup(slots uint64) (*idLookup, error) {
	const filterBytes = 2 // for each id, with overhead
	it, err := e.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyID}, UpperBound: []byte{keyID + 1}, UseL6Filters: slots*filterBytes < uint64(e.cache/4*3),
	})
	if err != nil {
		return nil, asDamage(err)
	}
	return &idLookup{it: it}, nil
}

func (i *idLookup) slot(id []byte) (slot uint64, found bool, err error) {
	i.key = append(append(i.key[:0], keyID), id...)
	if i.it.SeekPrefixGE(i.key) && bytes.Equal(i.it.Key(), i.key) {
		var value []byte
		if value, err = i.it.ValueAndErr(); err == nil {
			slot, err = parseSlotOf(id, value)
			return slot, err == nil, err
		}
	}
	if err = i.it.Error(); err != nil {
		err = fmt.Errorf("id %q: %w", id, asDamage(err))
	}
	return 0, false, err
}

// close closes the look-up; nil is allowed.
func (i *idLookup) close() error {
	if i == nil {
		return nil
	}
	return asDamage(i.it.Close())
}

// bytes returns the size of the store without files that Pebble is about to remove, or 0 if it has failed.
func (e *engine) bytes() int64 {
	m, err := e.metrics()
	if err != nil {
		return 0
	}
	gone := m.WAL.ObsoletePhysicalSize + m.Table.Local.ObsoleteSize + m.Table.Local.ZombieSize
	return int64(m.DiskSpaceUsage() - gone)
}

// keyBytes returns the size on disk of keys and facts.
func (e *engine) keyBytes() (n int64) {
	if !e.onDisk || e.err() != nil {
		return 0
	}
	for _, kind := range []byte{keyKey, keyFacts} {
		bytes, err := e.db.EstimateDiskUsage([]byte{kind}, []byte{kind + 1})
		if err == nil {
			n += int64(bytes)
		}
	}
	return n
}

// history calls visit for the remembered hashes, in order and in several pieces.
func (e *engine) history(visit func(hashes []uint64) error) error {
	var hashes []uint64
	return e.each(keyPast, 0, ^uint64(0), func(at uint64, value []byte) error {
		body, err := unseal(value, at)
		if err != nil {
			return fmt.Errorf("history at %d: %w", at, err)
		}
		hashes = numbers(hashes[:0], body)
		return visit(hashes)
	})
}

// tableFile is the size of a table with keys. Its Bloom filter is read as a whole.
const tableFile = 8 << 20
