package index

import (
	"bytes"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/alike-dev/alike/index/internal/keytable"
)

// An Index is a collection of documents. It is made by New, Create or Open. Its methods are
// safe for concurrent use.
type Index struct {
	*collection
	batches sync.Pool // of *Batch, for single documents

	lock   sync.Mutex // held by the goroutine that uses the writer
	writer *writer
}

func newIndex(w *writer) *Index { return &Index{collection: w.collection, writer: w} }

// Sync returns when everything that was added and deleted before survives a power failure. Concurrent
// calls share one wait for the disk.
func (x *Index) Sync() error {
	if err := x.Err(); err != nil {
		return err
	}
	if err := x.store.sync(); err != nil {
		x.lock.Lock()
		defer x.lock.Unlock()
		return x.writer.fail(err)
	}
	return nil
}

// Err returns why the index takes no more writes, or nil. A write that fails after Check, Add or Delete has returned
// is known as soon as it has failed.
func (x *Index) Err() error {
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.writer.err()
}

// Close closes the index. Added documents survive. No other call may be under way.
func (x *Index) Close() error {
	x.lock.Lock()
	defer x.lock.Unlock()
	if errors.Is(x.writer.failed, ErrClosed) {
		return nil
	}
	err := x.store.close(x.writer.failed == nil)
	x.writer.failed = ErrClosed
	return err
}

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
	if clock := x.window.clock.Load(); clock != math.MinInt64 {
		s.Newest = time.Unix(0, clock).UTC()
	}
	return s
}

// Documents returns Stats.Documents in O(1).
func (x *Index) Documents() int64 { return x.counts.live.Load() }

// Options returns the options of the index, with defaults filled in.
func (x *Index) Options() Options { return x.options }

// Check decides about the documents of a batch of NewCheck in order: a document that is similar to no document
// in the collection is added, and later ones are compared with it too. emit, if not nil, receives the verdicts
// before anything is stored. So if emit writes output, no document is stored without its output. If emit returns
// an error, nothing is stored and the index is read-only from then on. Verdicts are valid until the batch is
// reset.
//
// Search sees the added documents when Check has returned; they survive a crash when Sync has
// returned. A crash keeps all documents of one call or none.
func (x *Index) Check(b *Batch, emit func([]Verdict) error) ([]Verdict, error) {
	if !b.check {
		panic("index: Check wants a batch of NewCheck")
	}
	b.ask()
	x.lock.Lock()
	defer x.lock.Unlock()
	if err := x.writer.err(); err != nil {
		return nil, err
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := x.writer.hasRoom(); err != nil {
		return nil, err
	}
	x.writer.recent.use(b.view != nil)
	x.writer.begin(x.view.Load(), &b.cargo)
	b.verdicts = b.verdicts[:0]
	for i := range b.docs {
		if i+1 < len(b.docs) {
			b.touch(&x.writer.growing, &b.docs[i+1])
		}
		v, err := x.writer.decide(b, &b.docs[i])
		if err != nil {
			return nil, x.writer.fail(err)
		}
		b.verdicts = append(b.verdicts, v)
	}
	if emit != nil {
		if err := emit(b.verdicts); err != nil {
			return nil, x.writer.fail(err)
		}
	}
	return b.verdicts, x.writer.commit()
}

// Ask decides about each document of a batch of NewCheck as Check would if it were the only one, and adds none. The
// slot of a new document is the one that it would get. Verdicts are valid until the batch is reset.
func (x *Index) Ask(b *Batch) ([]Verdict, error) {
	b.ask()
	x.lock.Lock()
	defer x.lock.Unlock()
	if errors.Is(x.writer.failed, ErrClosed) {
		return nil, ErrClosed
	}
	if b.err != nil {
		return nil, b.err
	}
	x.writer.begin(x.view.Load(), nil)
	b.verdicts = b.verdicts[:0]
	for i := range b.docs {
		v, err := x.writer.ask(b, &b.docs[i])
		if err != nil {
			return nil, err
		}
		b.verdicts = append(b.verdicts, v)
	}
	return b.verdicts, nil
}

// CheckOne is Check for one document.
func (x *Index) CheckOne(d Document) (Verdict, error) {
	b, _ := x.batches.Get().(*Batch)
	if b == nil {
		b = x.NewCheck()
	}
	defer x.batches.Put(b)
	b.Reset()
	b.Add(d)
	verdicts, err := x.Check(b, nil)
	if err != nil {
		return Verdict{}, err
	}
	v := verdicts[0]
	v.Of = bytes.Clone(v.Of)
	for i := range v.Columns {
		v.Columns[i] = bytes.Clone(v.Columns[i])
	}
	return v, nil
}

// Add adds the documents of a batch of NewBatch, whether or not they are similar to others. With Options.ByID a
// document replaces one with the same id, but see Document.Made; Batch.Replaced and Batch.Apart then count.
// Check says when searches see them and when they survive a crash.
func (x *Index) Add(b *Batch) error {
	x.lock.Lock()
	defer x.lock.Unlock()
	if err := x.writer.err(); err != nil {
		return err
	}
	if err := x.writer.hasRoom(); err != nil {
		return err
	}
	x.writer.recent.use(true)
	x.writer.begin(x.view.Load(), &b.cargo)
	for i := range b.docs {
		p := &b.docs[i]
		p.tick(&x.window)
		if x.window.tooLate(p.time) {
			x.counts.late.Add(1)
			continue
		}
		a := b.arrival(p)
		if x.options.ByID {
			if err := x.writer.take(b, &a, p.made); err != nil {
				return x.writer.fail(err)
			}
		}
		if err := x.writer.insert(a); err != nil {
			return x.writer.fail(err)
		}
	}
	return x.writer.commit()
}

// Delete removes the documents with the ids, which needs Options.ByID, and returns how many documents
// it removed.
func (x *Index) Delete(ids ...[]byte) (n int, err error) {
	if !x.options.ByID {
		return 0, errNoIDs
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	if err := x.writer.err(); err != nil {
		return 0, err
	}
	x.writer.recent.use(true)
	x.writer.begin(x.view.Load(), nil)
	for _, id := range ids {
		before := len(x.writer.dead)
		if err := x.writer.replace(id); err != nil {
			return 0, x.writer.fail(err)
		}
		n += len(x.writer.dead) - before
	}
	x.counts.deleted.Add(int64(n))
	return n, x.writer.commit()
}

// Memory returns how many bytes of memory the index takes while nothing is added to it.
func (x *Index) Memory() int64 {
	v := x.view.Load()
	held := v.tableBytes() + v.slotBytes()
	if s, ok := x.store.(*diskStore); ok {
		held += s.engine.cache
	}
	return held
}

// FitsBeside is an error of the kind ErrMemory if OpenOptions.Memory has no room for so many more
// documents, with keys of the recipe only, in addition to so many bytes of other data. The error says how
// much would suffice.
func (x *Index) FitsBeside(documents, others int64) error {
	v := x.view.Load()
	if x.options.Keys == KeysOnDisk {
		return nil
	}
	x.lock.Lock()
	keys := v.table.Len() + int(documents)*(x.options.Recipe.Keys()+1)
	x.lock.Unlock()
	held := max(v.table.Bytes(), keytable.GrownBytes(keys)) + v.slotBytes() + documents*slotSize(x.judge.words)
	return x.ceiling.fits(v.Next-v.First+uint64(documents), held, held, max(others, x.ceiling.beside))
}

// NewBatch returns an empty batch for Add.
func (x *Index) NewBatch() *Batch { return newBatch(x.collection, false) }

// NewCheck returns an empty batch for Check.
func (x *Index) NewCheck() *Batch { return newBatch(x.collection, true) }

// Has tells whether a document of a slot below before has the id. It needs Options.ByID.
func (x *Index) Has(id []byte, before uint64) (bool, error) {
	if !x.options.ByID {
		return false, errNoIDs
	}
	x.lock.Lock() // a batch that is not yet visible may have taken the id
	defer x.lock.Unlock()
	slot, found, err := x.store.slotOf(id)
	return found && slot < before && x.view.Load().has(slot), err
}

// A Stored is a document of an index.
type Stored struct {
	Slot     uint64
	ID, Text []byte // Text is nil unless texts are kept
	Time     time.Time
	Columns  [][]byte
}

// Get returns the document with an id; found is false if there is none. It needs Options.ByID. O(length).
func (x *Index) Get(id []byte) (d Stored, found bool, err error) {
	if !x.options.ByID {
		return d, false, errNoIDs
	}
	x.lock.Lock() // the look-up of ids belongs to the writer
	slot, found, err := x.store.slotOf(id)
	v := x.view.Load()
	x.lock.Unlock()
	if err != nil || !found || !v.has(slot) {
		return d, false, err
	}
	var held facts
	value, err := x.store.get(v, slot, nil)
	if err == nil {
		_, err = v.facts(slot, &held)
	}
	if err != nil {
		if errors.Is(err, errGone) {
			err = nil
		}
		return d, false, err
	}
	r, err := parseRecord(value)
	if err != nil {
		return d, false, err
	}
	d = Stored{Slot: slot, ID: r.id, Time: time.Unix(0, held.time).UTC()}
	if r.kind == bodyText {
		d.Text = r.body
	}
	d.Columns, err = parseColumns(r.columns)
	return d, err == nil, err
}

// Note returns the note that a batch stored under a name, nil if there is none.
func (x *Index) Note(name string) ([]byte, error) { return x.store.note(name) }

// History calls visit for the hashes that batches have remembered, in order and in several pieces: the last
// Options.History of them or more. If visit returns an error, History returns it. An index in memory has no history.
func (x *Index) History(visit func(hashes []uint64) error) error {
	s, ok := x.store.(*diskStore)
	if !ok {
		return nil
	}
	if _, err := s.queue.drain(); err != nil {
		return err
	}
	return s.engine.history(visit)
}

// Slots are the places of an index's documents, in the order in which these came: from First, the smallest that is not
// expired, up to but not including Next, that of the next document. A deleted document leaves its slot empty.
type Slots struct {
	First, Next uint64

	of *Index
}

// Slots returns the slots that are there now. O(1).
func (x *Index) Slots() Slots {
	v := x.view.Load()
	return Slots{v.First, v.Next, x}
}

// ID returns the id of the document of a slot. ok is false if there is none.
func (s Slots) ID(slot uint64) (id []byte, ok bool, err error) {
	v := s.of.view.Load()
	if !v.has(slot) {
		return nil, false, nil
	}
	r, err := newFinder(s.of.collection).read(v)(slot)
	if errors.Is(err, errGone) {
		return nil, false, nil
	}
	return r.id, err == nil, err
}

// Delete removes the documents of slots from up to but not including to, and returns how
// many there were. It needs Options.ByID.
func (s Slots) Delete(from, to uint64) (n int, err error) {
	var ids [][]byte
	v, f := s.of.view.Load(), newFinder(s.of.collection)
	for slot := max(from, v.First); slot < min(to, v.Next); slot++ {
		if !v.has(slot) {
			continue
		}
		r, err := f.read(v)(slot)
		if err != nil {
			return 0, err
		}
		ids = append(ids, append([]byte{}, r.id...))
	}
	return s.of.Delete(ids...)
}
