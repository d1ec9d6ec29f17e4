package index

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// disk stores an index in a folder, in Pebble. keys.go describes the keys.
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
	byID    bool                         // Options.ByID
	history uint64                       // Options.History
	value   []byte

	// With KeysOnDisk, see settled.go.
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

// memTableSize is how many bytes Pebble collects in memory before it writes a table; memTablesAtOnce is how
// many such tables may be in memory.
const (
	memTableSize    = 32 << 20
	memTablesAtOnce = 4
)

// fail records why Pebble cannot go on.
func (s *disk) fail(err error) {
	if s.failed.CompareAndSwap(nil, &err) {
		close(s.broken)
		s.queue.mu.Lock() // a goroutine that has just seen no error is waiting by now
		defer s.queue.mu.Unlock()
		s.queue.moved.Broadcast()
	}
}

func (s *disk) err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// do calls a write of Pebble. It returns when the write has returned, or when the write has failed and will
// never return: see guarded.
func (s *disk) do(write func() error) error {
	if err := s.err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- write() }()
	select {
	case err := <-done:
		return err
	case <-s.broken:
		return s.err()
	}
}

// metrics returns Pebble's metrics. A failed Pebble may never return them: see guarded.
func (s *disk) metrics() (*pebble.Metrics, error) {
	var m *pebble.Metrics
	if err := s.do(func() error { m = s.db.Metrics(); return nil }); err != nil {
		return nil, err // m may still be set later
	}
	return m, nil
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

// hasKey tells whether the store has a key of any kind.
func (s *disk) hasKey(key []byte) bool {
	_, closer, err := s.db.Get(key)
	return err == nil && closer.Close() == nil
}

// each calls visit for the values of a kind, with their slots, from a slot up to but not including another.
func (s *disk) each(kind byte, from, to uint64, visit func(slot uint64, value []byte) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: slotKey(nil, kind, from), UpperBound: slotKey(nil, kind, to)})
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
func (s *disk) ofKind(kind byte) (*pebble.Iterator, error) {
	return s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
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
