package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/filelock"
)

// disk stores an index in a folder. A key in the store is a letter and what follows it:
//
//	d slot   a record
//	s slot   the block that begins with this slot
//	x slot   the document is dead; compact removes this and marks it in the block
//	i id     the slot of the document with the id, if Options.ByID
//	w        the window: first slot, next slot, clock
//	h place  hashes of the history from this place on, see Index.History
//	n name   a note of the program that uses the index, see Batch.Note
//
// and, with KeysOnDisk, the keys that settle.go describes.
//
// Slots are big-endian, so that they sort by number. Each value ends with a checksum of its own, over the value
// and its slot (i: over the id and the slot; n: over the name and the value).
type disk struct {
	fs       vfs.FS
	dir      string
	made     []string       // folders that this process has made
	lock     *filelock.Lock // nil: read-only
	snapshot *snapshot      // read instead of the folder if read-only; else nil
	db       *pebble.DB

	failed  atomic.Pointer[error] // why Pebble has stopped for good
	broken  chan struct{}         // closed when failed is set
	queue   queue
	synced  atomic.Int64 // number of batches
	syncing sync.Mutex
	trimmed uint64                       // documents before it are removed; used only by the writer
	slots   uint64                       // slots given out; used only by the writer
	ids     *idLookup                    // nil: the current batch has not asked for one; used only by the writer
	past    struct{ first, next uint64 } // places of the history; used only by the writer
	value   []byte

	// With KeysOnDisk, see settle.go.
	onDisk      bool
	options     *pebble.Options
	cache       int64     // bytes
	filterBytes int64     // of a document
	tailKeys    int       // most keys that memory holds
	recent      int       // bytes applied since Pebble was last known to keep up; used only by the writer
	ready       uint64    // documents before this slot have keys and facts on disk, settled or not; used only by the writer
	settling    *settling // nil: no documents are being settled; used only by the writer
}

func newDisk(fsys vfs.FS, dir string) *disk {
	s := &disk{fs: fsys, dir: dir, broken: make(chan struct{})}
	s.queue.moved.L = &s.queue.mu
	return s
}

const (
	keyRecord = 'd'
	keyBlock  = 's'
	keyDead   = 'x'
	keyID     = 'i'
	keyWindow = 'w'
	keyNote   = 'n'
	keyPast   = 'h'
)

func slotKey(dst []byte, kind byte, slot uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kind), slot)
}

// defaultCache is how many bytes of the store are cached in memory; keysCache is the same with KeysOnDisk,
// where each look-up reads the store.
const (
	defaultCache = 64 << 20
	keysCache    = 256 << 20
)

// memTableSize is how many bytes Pebble collects in memory before it writes a table; memTablesAtOnce is how
// many such tables may be in memory.
const (
	memTableSize    = 32 << 20
	memTablesAtOnce = 4
)

// storeOptions returns the options for Pebble.
func (s *disk) storeOptions(readOnly bool, memTable uint64) *pebble.Options {
	if s.cache == 0 {
		s.cache = defaultCache
		if s.onDisk {
			s.cache = keysCache
		}
	}
	o := &pebble.Options{
		FS: &guarded{s.fs, s.fail}, ReadOnly: readOnly, FormatMajorVersion: pebble.FormatNewest,
		CacheSize: s.cache, MemTableSize: memTable, MemTableStopWritesThreshold: memTablesAtOnce, L0StopWritesThreshold: 24,
		Logger: (*diskLogger)(s),
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
	if s.onDisk {
		o.Comparer = bucketOrder
		for i := range o.TargetFileSizes {
			o.TargetFileSizes[i] = tableFile
			o.Levels[i].BlockSize = 4 << 10 // a look-up of a key that exists reads one block
		}
	}
	o.EnsureDefaults()
	s.options = o
	return o
}

// fail records why Pebble cannot go on.
func (s *disk) fail(err error) {
	if s.failed.CompareAndSwap(nil, &err) {
		close(s.broken)
		s.queue.mu.Lock() // a goroutine that has just seen no error is waiting by now
		defer s.queue.mu.Unlock()
		s.queue.moved.Broadcast()
	}
}

// diskLogger is a disk as Pebble's logger.
type diskLogger disk

func (*diskLogger) Infof(string, ...any)  {}
func (*diskLogger) Errorf(string, ...any) {}

// Pebble calls Fatalf when it cannot go on. It must not return.
func (l *diskLogger) Fatalf(format string, args ...any) {
	(*disk)(l).fail(fmt.Errorf(format, args...))
	select {} // see guarded
}

// do calls a write of Pebble. It returns when the write has returned, or when the write has failed and will
// never return: see guarded.
func (s *disk) do(write func() error) error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	done := make(chan error, 1)
	go func() { done <- write() }()
	select {
	case err := <-done:
		return err
	case <-s.broken:
		return *s.failed.Load()
	}
}

func (s *disk) inMemory() bool { return false }

func (s *disk) get(x *Index, _ *view, slot uint64, dst []byte) ([]byte, error) {
	if queued, ok := s.queue.appendRecord(dst, slot); ok {
		body, err := unseal(queued[len(dst):], slot)
		return queued[:len(dst)+len(body)], err
	}
	value, closer, err := s.db.Get(slotKey(nil, keyRecord, slot))
	if errors.Is(err, pebble.ErrNotFound) {
		if x.view.Load().has(slot) {
			return dst, fmt.Errorf("document of slot %d: %w: it is missing", slot, errDamaged)
		}
		return dst, fmt.Errorf("slot %d: %w", slot, errGone)
	}
	if err != nil {
		return dst, fmt.Errorf("document of slot %d: %w", slot, asDamage(err))
	}
	body, err := unseal(value, slot)
	if err == nil {
		dst = append(dst, body...)
	} else {
		err = fmt.Errorf("document of slot %d: %w", slot, err)
	}
	return dst, errors.Join(err, closer.Close())
}

// hasKey tells whether the store has a key of any kind.
func (s *disk) hasKey(key []byte) bool {
	_, closer, err := s.db.Get(key)
	return err == nil && closer.Close() == nil
}

// asDamage marks an error as damage if Pebble reports corruption.
func asDamage(err error) error {
	if err != nil && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// slotOf looks up an id for the writer, as it was before the current batch.
func (s *disk) slotOf(id []byte) (slot uint64, found bool, err error) {
	if s.ids == nil {
		if s.ids, err = s.newIDLookup(); err != nil {
			return 0, false, err
		}
	}
	return s.ids.slot(id)
}

// idLookup looks up ids as they were when it was made. The caller closes it.
type idLookup struct {
	it  *pebble.Iterator
	key []byte
}

// newIDLookup returns a look-up for the ids of now. Most ids that are looked up are not in the store. Bloom
// filters tell that, but Pebble asks the filters of the lowest level, where nearly all ids are, only on
// request. That pays only if they fit in the cache, since the filter of a table is read as a whole.
func (s *disk) newIDLookup() (*idLookup, error) {
	const filterBytes = 2 // for each id, with overhead
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyID}, UpperBound: []byte{keyID + 1}, UseL6Filters: s.slots*filterBytes < uint64(s.cache/4*3),
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

func appendSlotOf(dst, id []byte, slot uint64) []byte {
	return seal(binary.LittleEndian.AppendUint64(dst, slot), durable.Checksum(0, id), slot)
}

func parseSlotOf(id, value []byte) (uint64, error) {
	if len(value) == 8+durable.ChecksumSize {
		slot := binary.LittleEndian.Uint64(value)
		if string(appendSlotOf(nil, id, slot)) == string(value) {
			return slot, nil
		}
	}
	return 0, fmt.Errorf("id %q: %w: checksum", id, errDamaged)
}

// apply writes a batch as a whole or not at all.
func (s *disk) apply(x *Index) error {
	s.slots = x.next
	err := s.ids.close()
	s.ids = nil
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	from := x.view.Load().Next
	for i := range x.pending {
		slot := from + uint64(i)
		if slot >= x.growing.First && x.growing.chunk(slot).isDead(slot) {
			continue
		}
		s.value = seal(append(s.value[:0], x.pending[i].record...), x.pending[i].sum, slot)
		if err := b.Set(slotKey(nil, keyRecord, slot), s.value, nil); err != nil {
			return err
		}
	}
	err = errors.Join(s.putBlocks(b, x, from), s.putDead(b, x, from), s.putIDs(b, x), s.putNotes(b, x), s.putPast(b, x), s.putSettled(b, x), s.putWindow(b, x.growing.First, x.next, x.clock.Load()), s.trim(b, x))
	if err != nil {
		return err
	}
	if x.readsChanges() {
		return s.commit(b)
	}
	_, err = s.enqueue(b)
	s.slow()
	return err
}

// readsChanges tells whether the store must have the current batch before it is shown, because readers will ask
// the store for more than its records: ids, notes, or documents that were settled and have now gone.
func (x *Index) readsChanges() bool {
	return x.options.ByID || len(x.notes) > 0 || len(x.keyed) > 0 ||
		slices.ContainsFunc(x.dead, func(slot uint64) bool { return slot < x.growing.settled })
}

// commit writes a batch and closes it.
func (s *disk) commit(b *pebble.Batch) error {
	number, err := s.enqueue(b)
	if err == nil {
		err = s.wait(number)
	}
	s.slow()
	return err
}

// metrics returns Pebble's metrics. A failed Pebble may never return them: see guarded.
func (s *disk) metrics() (*pebble.Metrics, error) {
	var m *pebble.Metrics
	if err := s.do(func() error { m = s.db.Metrics(); return nil }); err != nil {
		return nil, err // m may still be set later
	}
	return m, nil
}

// longestWait is the longest wait of a batch when batches come faster than the disk can write them.
const longestWait = 5 * time.Millisecond

// slow delays the writer a little while the queue is more than half full, or Pebble has many tables in memory to
// write. When the queue is full, the writer would wait long, and at memTablesAtOnce Pebble would stop all writes.
func (s *disk) slow() {
	filled := s.filled()
	if s.recent >= 1<<20 { // the metrics cost some microseconds
		m, err := s.metrics()
		if err != nil {
			return // the next write returns the error
		}
		size := float64(m.MemTable.Size) / float64(memTablesAtOnce*s.options.MemTableSize)
		if size <= 0.5 {
			s.recent = 0
		}
		filled = max(filled, size)
	}
	if filled > 0.5 {
		time.Sleep(min(time.Duration((filled-0.5)*float64(2*longestWait)), longestWait))
	}
}

func (s *disk) putBlocks(b *pebble.Batch, x *Index, from uint64) error {
	return inChunks(x.pending, from, func(slot uint64, docs []arrival) error {
		block := appendBlock(s.value[:0], x.judge.words, docs, func(i int) bool {
			at := slot + uint64(i)
			return at >= x.growing.First && x.growing.chunk(at).isDead(at)
		})
		s.value = sealed(block, slot)
		return b.Set(slotKey(nil, keyBlock, slot), s.value, nil)
	})
}

func (s *disk) putDead(b *pebble.Batch, x *Index, from uint64) error {
	for _, slot := range x.dead {
		if slot >= from {
			continue // its block says so
		}
		if err := buryStored(b, slot, slot < x.growing.settled); err != nil {
			return err
		}
	}
	return nil
}

// buryStored removes a document: a settled one loses its facts; another one is marked, since its block stays.
func buryStored(b *pebble.Batch, slot uint64, settled bool) error {
	err := b.Delete(slotKey(nil, keyRecord, slot), nil)
	if settled {
		return errors.Join(err, b.Delete(slotKey(nil, keyFacts, slot), nil))
	}
	return errors.Join(err, b.Set(slotKey(nil, keyDead, slot), sealed(nil, slot), nil))
}

func (s *disk) putIDs(b *pebble.Batch, x *Index) error {
	for _, id := range x.dropped {
		if err := b.Delete(append([]byte{keyID}, id...), nil); err != nil {
			return err
		}
	}
	if !x.options.ByID {
		return nil
	}
	for i := range x.pending { // in order, so that equal batches have equal bytes
		id, slot := x.pending[i].id, x.view.Load().Next+uint64(i)
		if at, named := x.named[string(id)]; !named || at != slot {
			continue // a later document has the id, or it was removed again
		}
		if err := b.Set(append([]byte{keyID}, id...), appendSlotOf(nil, id, slot), nil); err != nil {
			return err
		}
	}
	return nil
}

// noteOf is a name with its note, see Batch.Note.
type noteOf struct {
	name  string
	value []byte
}

func (s *disk) putNotes(b *pebble.Batch, x *Index) error {
	for _, n := range x.notes {
		value := seal(slices.Clone(n.value), durable.Checksum(durable.Checksum(0, []byte(n.name)), n.value), 0)
		if err := b.Set(append([]byte{keyNote}, n.name...), value, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *disk) note(name string) ([]byte, error) {
	value, closer, err := s.db.Get(append([]byte{keyNote}, name...))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("note %q: %w", name, asDamage(err))
	}
	note, err := parseNote(name, value)
	return note, errors.Join(err, closer.Close())
}

// parseNote returns a copy of a note without its checksum.
func parseNote(name string, value []byte) ([]byte, error) {
	n := len(value) - durable.ChecksumSize
	if n < 0 || string(seal(nil, durable.Checksum(durable.Checksum(0, []byte(name)), value[:n]), 0)) != string(value[n:]) {
		return nil, fmt.Errorf("note %q: %w: checksum", name, errDamaged)
	}
	return slices.Clone(value[:n]), nil
}

func (s *disk) putWindow(b *pebble.Batch, first, next uint64, clock int64) error {
	return b.Set([]byte{keyWindow}, sealed(appendNumbers(nil, []uint64{first, next, uint64(clock)}), first), nil)
}

func parseWindow(value []byte) (first, next uint64, clock int64, err error) {
	if len(value) == 24+durable.ChecksumSize {
		n := numbers(nil, value[:24])
		if _, err = unseal(value, n[0]); err == nil && n[0] <= n[1] {
			return n[0], n[1], int64(n[2]), nil
		}
	}
	return 0, 0, math.MinInt64, fmt.Errorf("window: %w: checksum", errDamaged)
}

// trim removes expired documents, a chunk at a time. Readers of the current view may still read documents that
// expire with this batch.
func (s *disk) trim(b *pebble.Batch, x *Index) error {
	if s.onDisk {
		return nil // see settle
	}
	to := x.view.Load().First &^ (chunkDocs - 1)
	if to <= s.trimmed {
		return nil
	}
	from := s.trimmed
	s.trimmed = to
	var err error
	for _, kind := range []byte{keyRecord, keyBlock, keyDead} { // no block crosses the end of a chunk
		err = errors.Join(err, b.DeleteRange(slotKey(nil, kind, from), slotKey(nil, kind, to), nil))
	}
	return err
}

// sync makes everything that was applied durable. A call during another sync waits for it, and often finds that
// this was enough.
func (s *disk) sync() error {
	want := s.queue.last()
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if s.synced.Load() >= want {
		return nil
	}
	upTo, err := s.drain()
	if err != nil {
		return err
	}
	if err := s.do(func() error { return s.db.LogData(nil, pebble.Sync) }); err != nil {
		return err
	}
	s.synced.Store(upTo)
	return nil
}

// bytes returns the size of the store without files that Pebble is about to remove, or 0 if it has failed.
func (s *disk) bytes(*view) int64 {
	m, err := s.metrics()
	if err != nil {
		return 0
	}
	gone := m.WAL.ObsoletePhysicalSize + m.Table.Local.ObsoleteSize + m.Table.Local.ZombieSize
	return int64(m.DiskSpaceUsage() - gone)
}
