package index

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/index/internal/table"
	"github.com/alike-dev/alike/minhash"
)

// ErrReadOnly says that an index takes no more writes: an earlier write has failed, so that the
// content of the disk is unknown, or the index was opened to be read only.
var ErrReadOnly = errors.New("index is read-only")

var errNoIDs = errors.New("index: documents are not known by their ids here: set ByID")

// ErrClosed says that an index was closed.
var ErrClosed = errors.New("index is closed")

// errGone says that a document no longer exists.
var errGone = errors.New("document is gone")

// An Index is a collection of documents. It is made by New, Create or Open. Its methods are
// safe for concurrent use.
type Index struct {
	options Options
	judge   judge
	apart   int // see judge.mostApart
	scaled  minhash.Scaled
	store   store
	view    atomic.Pointer[view]
	clock   atomic.Int64 // the newest time, in nanoseconds
	counts  counts
	ceiling int64 // OpenOptions.Memory
	beside  int64 // OpenOptions.Beside

	batches sync.Pool // of *Batch, for single documents

	write   sync.Mutex // held by the writer, and for all below
	failed  error
	changes      // of the current batch
	late    late // see settling
	finder  *finder
	marks   []mark
	asked   uint64 // number of slots when memory was last known to have room
}

// counts are numbers of events since the index was opened.
type counts struct {
	checked, added, duplicates, late, refreshed, expired, deleted, full atomic.Int64
	live                                                                atomic.Int64
	failed                                                              atomic.Bool
}

// mark says that all documents before a slot have the time clock or an earlier one.
type mark struct {
	slot  uint64
	clock int64
}

// late collects changes to documents while they are being settled.
type late struct {
	keys []keyOf
	dead []uint64
}

// A store holds the records. Any number of goroutines may call get, sync and err; only the writer calls the other
// methods.
type store interface {
	inMemory() bool
	// get appends the record of a slot of the view, without its checksum; errGone if it has expired meanwhile.
	get(x *Index, v *view, slot uint64, dst []byte) ([]byte, error)
	slotOf(id []byte) (slot uint64, found bool, err error)
	// apply stores the changes of a batch. Readers may still read documents that expire with it.
	apply(c *changes) error
	// note returns the note with a name, nil if there is none.
	note(name string) ([]byte, error)
	sync() error
	// err returns the error of a write after which the store takes no more writes, or nil.
	err() error
	close(x *Index) error
	bytes(v *view) int64
	keyBytes() int64
	// settle begins to move documents from memory to the disk, if keys are on disk and there are enough of them,
	// and ends what it began before; with all it moves all documents and waits for that.
	settle(x *Index, all bool) error
}

func newIndex(o Options) *Index {
	x := &Index{options: o, judge: newJudge(o.Recipe), changes: changes{named: map[string]uint64{}}}
	x.apart = x.judge.mostApart(o.Recipe, o.Recipe.Threshold())
	if o.Containment > 0 {
		x.scaled = o.scaled()
	}
	x.view.Store(&view{table: table.New(o.BucketCap), words: x.judge.words})
	x.clock.Store(math.MinInt64)
	x.finder = newFinder(x)
	return x
}

// Sync returns when everything that was added and deleted before survives a power failure. Concurrent
// calls share one wait for the disk.
func (x *Index) Sync() error {
	if err := x.Err(); err != nil {
		return err
	}
	if err := x.store.sync(); err != nil {
		x.write.Lock()
		defer x.write.Unlock()
		return x.fail(err)
	}
	return nil
}

// Err returns why the index takes no more writes, or nil. A write that fails after Check, Add or Delete has returned
// is known as soon as it has failed.
func (x *Index) Err() error {
	x.write.Lock()
	defer x.write.Unlock()
	return x.err()
}

// err is Err for a caller that has the lock.
func (x *Index) err() error {
	if err := x.store.err(); x.failed == nil && err != nil {
		return x.fail(err)
	}
	return x.failed
}

// Close closes the index. Added documents survive. No other call may be under way.
func (x *Index) Close() error {
	x.write.Lock()
	defer x.write.Unlock()
	if errors.Is(x.failed, ErrClosed) {
		return nil
	}
	err := x.store.close(x)
	x.failed = ErrClosed
	return err
}

// fail makes the index read-only. The changes of the current batch are never shown.
func (x *Index) fail(err error) error {
	if x.failed == nil {
		x.counts.failed.Store(true)
		x.failed = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return x.failed
}

func (x *Index) expires() bool { return x.options.Window.Docs > 0 || x.options.Window.Age > 0 }

// Stats are the size of an index and what it has done since it was opened.
type Stats struct {
	Documents  int64     // number of documents
	First      uint64    // smallest slot that is not expired
	Next       uint64    // slot of the next document
	Newest     time.Time // newest time of a document; zero if none has one
	TableBytes int64     // memory of the keys
	SlotBytes  int64     // memory for the rest that is held for each document
	KeyBytes   int64     // with KeysOnDisk: size on disk of keys and facts that are in tables
	StoreBytes int64     // size of the stored documents, in memory or on disk

	Checked, Added, Duplicates, Late, Refreshed, Expired, Deleted int64
	Full                                                          int64 // keys that documents did not get because their bucket was full
	Failed                                                        bool  // a write has failed, and the index takes no more: see Err
}

// Stats returns the size of the index and its counts. O(slots/64).
func (x *Index) Stats() Stats {
	v := x.view.Load()
	s := Stats{
		Documents: x.counts.live.Load(), First: v.First, Next: v.Next,
		TableBytes: v.tableBytes(), SlotBytes: v.slotBytes(),
		StoreBytes: x.store.bytes(v), KeyBytes: x.store.keyBytes(),
		Checked: x.counts.checked.Load(), Added: x.counts.added.Load(), Duplicates: x.counts.duplicates.Load(), Late: x.counts.late.Load(),
		Refreshed: x.counts.refreshed.Load(), Expired: x.counts.expired.Load(), Deleted: x.counts.deleted.Load(), Full: x.counts.full.Load(),
		Failed: x.counts.failed.Load() || x.store.err() != nil,
	}
	if clock := x.clock.Load(); clock != math.MinInt64 {
		s.Newest = time.Unix(0, clock).UTC()
	}
	return s
}

// Documents returns Stats.Documents in O(1).
func (x *Index) Documents() int64 { return x.counts.live.Load() }

// Options returns the options of the index, with defaults filled in.
func (x *Index) Options() Options { return x.options }
