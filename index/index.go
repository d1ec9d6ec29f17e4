package index

import (
	"bytes"
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
	next    uint64            // slots given out: the view's Next and the slots of the current batch
	growing view              // the view with room for them
	batch   *Batch            // the current batch; nil: none
	pending []arrival         // documents of these slots
	named   map[string]uint64 // with ByID: slots of their ids
	dropped [][]byte          // with ByID: ids of dead documents
	dead    []uint64          // slots that the current batch removes
	keyed   []keyOf           // keys on disk that the current batch changes
	late    late              // see settling
	notes   []noteOf          // to be stored with the current batch
	most    uint64            // see expire
	finder  *finder
	marks   []mark
	asked   uint64 // number of slots when memory was last known to have room
}

// counts are numbers of events since the index was opened.
type counts struct {
	checked, added, duplicates, late, refreshed, expired, deleted, full atomic.Int64
	live                                                                atomic.Int64
}

// arrival is a document on its way into the collection.
type arrival struct {
	keys   []uint64
	ways   int
	record []byte // without checksum
	sum    uint32
	id     []byte
	digest [2]uint64
	words  []uint32
	time   int64
}

// mark says that all documents before a slot have the time clock or an earlier one.
type mark struct {
	slot  uint64
	clock int64
}

// New returns an empty index in memory.
func New(o Options) (*Index, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Keys == KeysOnDisk {
		return nil, errors.New("index: one in memory has its keys there: leave keys on disk out, or make it in a folder")
	}
	x := newIndex(o.withDefaults())
	x.store = newMemory(o.ByID)
	return x, nil
}

func newIndex(o Options) *Index {
	x := &Index{options: o, judge: newJudge(o.Recipe), named: map[string]uint64{}}
	x.apart = x.judge.mostApart(o.Recipe, o.Recipe.Threshold())
	if o.Containment > 0 {
		x.scaled = o.scaled()
	}
	x.view.Store(&view{table: table.New(o.BucketCap), words: x.judge.words})
	x.clock.Store(math.MinInt64)
	x.finder = newFinder(x)
	return x
}

// NewBatch returns an empty batch for Add.
func (x *Index) NewBatch() *Batch { return x.newBatch(false) }

// NewCheck returns an empty batch for Check.
func (x *Index) NewCheck() *Batch { return x.newBatch(true) }

// Check decides about the documents of a batch of NewCheck in order: a document that is like nothing
// in the collection is added, and later ones are compared with it. emit, if not nil, receives the
// verdicts before anything is stored, so that what emit has made of them exists whenever the
// documents do. If emit fails, nothing is stored and the index is read-only from then on. Verdicts
// are valid until the batch is reset.
//
// Search sees the added documents when Check has returned; they survive a crash when Sync has
// returned. A crash keeps all documents of one call or none.
func (x *Index) Check(b *Batch, emit func([]Verdict) error) ([]Verdict, error) {
	if !b.check {
		panic("index: Check wants a batch of NewCheck")
	}
	x.write.Lock()
	defer x.write.Unlock()
	if x.failed != nil {
		return nil, x.failed
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := x.hasRoom(); err != nil {
		return nil, err
	}
	x.begin(b)
	b.verdicts = b.verdicts[:0]
	for i := range b.docs {
		v, err := x.decide(b, &b.docs[i])
		if err != nil {
			return nil, x.fail(err)
		}
		b.verdicts = append(b.verdicts, v)
	}
	if emit != nil {
		if err := emit(b.verdicts); err != nil {
			return nil, x.fail(err)
		}
	}
	return b.verdicts, x.commit()
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

// Add adds the documents of a batch of NewBatch, whether or not they are like others. With
// Options.ByID a document replaces one with the same id. See Check for when they are seen and
// survive.
func (x *Index) Add(b *Batch) error {
	x.write.Lock()
	defer x.write.Unlock()
	if x.failed != nil {
		return x.failed
	}
	if err := x.hasRoom(); err != nil {
		return err
	}
	x.begin(b)
	for i := range b.docs {
		p := &b.docs[i]
		x.tick(p)
		if x.tooLate(p.time) {
			x.counts.late.Add(1)
			continue
		}
		a := b.arrival(p)
		if x.options.ByID {
			if err := x.replace(a.id); err != nil {
				return x.fail(err)
			}
		}
		if err := x.insert(a); err != nil {
			return x.fail(err)
		}
	}
	return x.commit()
}

// Delete removes the documents with the ids, which needs Options.ByID, and returns how many documents
// it removed.
func (x *Index) Delete(ids ...[]byte) (n int, err error) {
	if !x.options.ByID {
		return 0, errNoIDs
	}
	x.write.Lock()
	defer x.write.Unlock()
	if x.failed != nil {
		return 0, x.failed
	}
	x.begin(nil)
	for _, id := range ids {
		before := len(x.dead)
		if err := x.replace(id); err != nil {
			return 0, x.fail(err)
		}
		n += len(x.dead) - before
	}
	x.counts.deleted.Add(int64(n))
	return n, x.commit()
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

// Err returns why the index takes no more writes, or nil.
func (x *Index) Err() error {
	x.write.Lock()
	defer x.write.Unlock()
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
		x.failed = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return x.failed
}

func (x *Index) begin(b *Batch) {
	v := x.view.Load()
	x.batch = b
	x.next, x.growing = v.Next, *v
	x.most = v.First + slotsAtOnce
	x.pending, x.dead = x.pending[:0], x.dead[:0]
	x.dropped, x.notes, x.keyed = x.dropped[:0], x.notes[:0], x.keyed[:0]
	clear(x.named)
	if x.growing.settled > 0 {
		x.growing.gone = map[uint64]bool{}
	}
}

// decide decides about one document of a batch.
func (x *Index) decide(b *Batch, p *prepared) (v Verdict, err error) {
	x.counts.checked.Add(1)
	wasTimed := p.timed
	x.tick(p)
	now := table.Range{First: x.growing.First, Next: x.next}
	grown := x.growing
	grown.Range = now
	q := b.query(p, func() []uint64 { return x.finder.querySet(of(b.bytes, p.record)) })
	look := b.view.after(now)
	if p.found {
		alive, err := p.slot >= grown.First, error(nil)
		if alive {
			alive, err = grown.facts(p.slot, &x.finder.held)
		}
		if err != nil {
			return v, err
		}
		if !alive || x.tooLate(x.finder.held.time) {
			look, p.found = now, false // the document that it was like has gone
		}
	}
	if !wasTimed && x.options.Window.Age > 0 {
		look, p.found = now, false // the batch searched with another time
	}
	if !p.found {
		p.slot, p.similarity, p.found, err = x.finder.oldest(&grown, look, q, x.read)
		if err != nil {
			return v, err
		}
	}
	if !p.found {
		if x.tooLate(p.time) {
			x.counts.late.Add(1)
			return Verdict{New: true, Late: true}, nil
		}
		v = Verdict{New: true, Slot: x.next}
		return v, x.insert(b.arrival(p))
	}
	x.counts.duplicates.Add(1)
	v = Verdict{Slot: p.slot, Similarity: p.similarity, Late: x.tooLate(p.time)}
	r, err := x.read(p.slot)
	if err != nil {
		return v, err
	}
	from := len(b.ids)
	b.ids = append(b.ids, r.id...)
	v.Of = b.ids[from:len(b.ids):len(b.ids)]
	if len(r.columns) > 0 {
		from = len(b.ids)
		b.ids = append(b.ids, r.columns...)
		if v.Columns, err = parseColumns(b.ids[from:]); err != nil {
			return v, err
		}
	}
	if x.options.Window.Refresh && !v.Late {
		err = x.refresh(p.slot, p.time, r)
	}
	return v, err
}

// read reads a document of the collection or of the current batch.
func (x *Index) read(slot uint64) (record, error) {
	if shown := x.view.Load(); slot < shown.Next {
		return x.finder.read(shown)(slot)
	}
	return parseRecord(x.pending[slot-x.view.Load().Next].record)
}

// arrival returns a document of the batch in the form that insert takes.
func (b *Batch) arrival(p *prepared) arrival {
	return arrival{
		keys: of(b.keys, p.keys), ways: p.ways, record: of(b.bytes, p.record), sum: p.sum, id: of(b.ids, p.id),
		digest: p.digest, words: of(b.words, p.words), time: p.time,
	}
}

// insert gives a document the next slot.
func (x *Index) insert(a arrival) error {
	slot := x.next
	x.growing = x.growing.extended(slot, x.store.inMemory())
	c := x.growing.chunk(slot)
	c.times[slot%chunkDocs], c.digests[slot%chunkDocs] = a.time, a.digest
	copy(c.signature(slot, x.judge.words), a.words)
	now := table.Range{First: x.growing.First, Next: slot}
	keys, err := x.keysOf(&a, now)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !x.growing.table.Insert(key, slot, now) {
			x.counts.full.Add(1)
		}
	}
	x.pending = append(x.pending, a)
	if x.options.ByID {
		x.named[string(a.id)] = slot
	}
	x.next++
	defer x.expire()
	x.counts.added.Add(1)
	x.counts.live.Add(1)
	if last := len(x.marks) - 1; x.options.Window.Age > 0 && (last < 0 || x.clock.Load()-x.marks[last].clock >= x.markEvery()) {
		x.marks = append(x.marks, mark{x.next, x.clock.Load()})
	} else if last >= 0 && x.marks[last].clock == x.clock.Load() {
		x.marks[last].slot = x.next
	}
	return nil
}

// keysOf returns the keys that a document gets in the table. Where nothing expires, a copy of an
// earlier document gets only the key of its digest, since searches find the earlier document and look
// up its copies by that: a million copies do not fill buckets that others need.
func (x *Index) keysOf(a *arrival, now table.Range) ([]uint64, error) {
	if a.ways == 0 || x.expires() {
		return a.keys, nil
	}
	grown := x.growing
	grown.Range = now
	copies, err := x.finder.copies(&grown, a.keys[a.ways-1], a.digest)
	if len(copies) > 0 {
		return a.keys[a.ways-1 : a.ways], err
	}
	return a.keys, err
}

func (x *Index) expires() bool { return x.options.Window.Docs > 0 || x.options.Window.Age > 0 }

// bury removes a document with these keys from the collection.
func (x *Index) bury(slot uint64, keys []uint64) {
	if slot < x.growing.settled {
		x.growing.gone[slot] = true
	} else if !x.growing.chunk(slot).bury(slot) {
		return
	} else if slot < x.growing.frozen {
		x.late.dead = append(x.late.dead, slot)
	}
	for _, key := range keys {
		x.unlink(key, slot)
	}
	x.dead = append(x.dead, slot)
	x.counts.live.Add(-1)
}

// link gives the key to a document of the collection; unlink removes it.
func (x *Index) link(key, slot uint64) {
	if x.onDisk(key, slot, true) {
		return
	}
	x.growing.tableOf(slot).Insert(key, slot, table.Range{First: x.growing.First, Next: x.next})
}

func (x *Index) unlink(key, slot uint64) {
	if x.onDisk(key, slot, false) {
		return
	}
	first := x.growing.First
	if slot < x.growing.frozen {
		// The table then has the slot before first with this key. It has expired for readers, but
		// must not be a slot that is being settled, or it would get the key on disk.
		first = min(first, x.growing.settled)
	}
	x.growing.tableOf(slot).Remove(key, slot, table.Range{First: first, Next: x.next})
}

// onDisk records that a document gains or loses a key, if its keys are on disk or on their way there.
// It tells whether they are only on disk.
func (x *Index) onDisk(key, slot uint64, has bool) bool {
	k := keyOf{table.Print(key), slot, has}
	switch {
	case slot < x.growing.settled:
		x.keyed = append(x.keyed, k)
		return true
	case slot < x.growing.frozen:
		x.late.keys = append(x.late.keys, k)
	}
	return false
}

// refresh moves a document to the end of the window, with a new time.
func (x *Index) refresh(slot uint64, at int64, r record) error {
	a, err := x.finder.again(&x.growing, slot, r)
	if err != nil {
		return err
	}
	a.time = max(a.time, at)
	x.bury(slot, a.keys)
	if err := x.insert(a); err != nil {
		return err
	}
	x.counts.added.Add(-1)
	x.counts.refreshed.Add(1)
	return nil
}

// replace removes the document with an id, if there is one.
func (x *Index) replace(id []byte) error {
	slot, found := x.named[string(id)]
	if !found {
		var err error
		if slot, found, err = x.store.slotOf(id); err != nil {
			return err
		}
	}
	if !found || !x.growing.living(slot) {
		return nil
	}
	r, err := x.read(slot)
	if err != nil {
		return err
	}
	a, err := x.finder.again(&x.growing, slot, r)
	if err != nil {
		return err
	}
	x.bury(slot, a.keys)
	if err := x.promote(&a); err != nil {
		return err
	}
	x.dropped = append(x.dropped, a.id)
	delete(x.named, string(id))
	return nil
}

// promote is called when a document has gone: its first copy gets the keys by which it was found. See
// keysOf.
func (x *Index) promote(gone *arrival) error {
	if gone.ways == 0 {
		return nil
	}
	grown := x.growing
	grown.Range = table.Range{First: x.growing.First, Next: x.next}
	copies, err := x.finder.copies(&grown, gone.keys[gone.ways-1], gone.digest)
	if len(copies) == 0 {
		return err
	}
	first := copies[0]
	for i, key := range gone.keys {
		if i != gone.ways-1 {
			x.unlink(key, first) // a copy that was added before it has them already
			x.link(key, first)
		}
	}
	return err
}

// commit stores the changes of the batch and shows them to readers.
func (x *Index) commit() error {
	if b := x.batch; b != nil && b.note != nil {
		name, value := b.note(x.view.Load().Next, x.next)
		x.notes = append(x.notes, noteOf{name, value})
	}
	if err := x.store.apply(x); err != nil {
		return x.fail(err)
	}
	shown := x.growing
	shown.Next, shown.gone = x.next, nil
	x.view.Store(&shown)
	if err := x.store.settle(x, false); err != nil {
		return x.fail(err)
	}
	return nil
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
