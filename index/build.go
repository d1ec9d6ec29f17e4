package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/alike-dev/alike/vfs"
	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/durable"
)

// BuildOptions say how an index is built in a folder.
type BuildOptions struct {
	Options // without a window
	// Memory is how many bytes ids and keys may take before they are written, in addition to batches and two
	// bits for each document; 0: 256 MiB. The stored index does not depend on it.
	Memory  int64
	Threads int    // goroutines that sort and write keys; 0: all processors
	FS      vfs.FS // nil: that of the operating system

	tableBytes uint64 // size of a table; 0 except in tests: recordFile, or tableFile
	pieceBytes int    // see OpenOptions
}

// A Builder makes an index in a folder from a complete set of documents. Index.Add looks up ids, finds
// copies and updates a table of keys for every document; a Builder looks up nothing:
//
//	Add     records and blocks (KeysOnDisk: records and facts)   are written in the order of slots
//	        ids                                                  are sorted as many as memory holds
//	        keys, with KeysOnDisk                                are sorted, beyond memory if need be
//	Finish  documents whose ids came again                       are removed
//	        keys of the others                                   are written in their order
//
// Everything goes into tables that Pebble ingests unchanged: there is no log, and nothing to compact. The
// index is the same that Add would have made, and exists when Finish has returned nil. A process that ends
// earlier leaves a folder that is no index, in which NewBuilder or Create can begin again.
//
//	b, err := index.NewBuilder(dir, index.BuildOptions{Options: o})
//	if err != nil { … }
//	defer b.Close() // gives up; after Finish it does nothing
//	batch := b.NewBatch()
//	batch.Add(document) …
//	err = b.Add(batch) …
//	documents, err := b.Finish(ctx)
//
// Any number of goroutines may fill batches, each its own. Only one goroutine at a time may call methods of
// the Builder.
type Builder struct {
	x       *collection // empty; batches are made for it
	err     error       // why the builder has stopped
	next    uint64
	given   int   // keys of all documents, those of copies included
	apart   int64 // see Apart
	dead    int64 // see Replaced
	writing interface {
		add(batch *Batch) error
		finish(ctx context.Context) error
		release() error
		close() error
	} // a build: it hides the types of the store, see lateTable
}

// A build is a Builder with the store that it writes.
type build struct {
	*Builder
	s       *diskStore
	made    bitset.Set[uint64] // documents with a made id
	docs    []arrival
	records tables
	pieces  tables // of long records
	held    tables // blocks or, with KeysOnDisk, facts
	filters tables // of blocks
	ids     idSorter
	keys    *keySorter // nil: keys are in memory when the index is opened
	key     []byte
	value   []byte
}

// recordFile is the size of a table in an index with keys in memory.
const recordFile = 32 << 20

// defaultBuildMemory is BuildOptions.Memory.
const defaultBuildMemory = 256 << 20

// NewBuilder begins an index in a folder that does not exist or is empty, as Create does.
func NewBuilder(dir string, o BuildOptions) (*Builder, error) {
	if o.Window.Docs > 0 || o.Window.Age > 0 {
		return nil, errors.New("index: a window is for documents that come one after the other: leave it out, or take Create")
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	f, err := prepareFolder(o.FS, dir, o.Options)
	if err != nil {
		return nil, err
	}
	o.Memory, o.Threads = cmp.Or(o.Memory, defaultBuildMemory), cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	s := newDiskStore(f)
	b := &build{Builder: &Builder{x: newCollection(o.withDefaults())}, s: s}
	b.writing = b
	full := uint64(recordFile)
	if o.Keys == KeysOnDisk {
		full = tableFile
	}
	full = cmp.Or(o.tableBytes, full)
	s.engine.pieceSize = cmp.Or(o.pieceBytes, pieceSize)
	s.engine.onDisk, s.engine.cache = o.Keys == KeysOnDisk, 8<<20
	options := s.engine.setOptions(f.forPebble(s.engine.fail), false, 4<<20)
	options.DisableWAL = true
	err = s.engine.open(f.path(storeDir), options)
	if err == nil && s.engine.onDisk {
		b.keys, err = newKeySorter(s, o.Memory/4*3, o.Threads, full)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	written := func(name string) tables { return tables{folder: f, engine: s.engine, name: name, full: full} }
	b.records, b.pieces, b.held = written("records"), written("pieces"), written("held")
	b.filters = written("filters")
	b.held.plain, b.filters.plain = true, true
	b.ids = idSorter{tables: written("ids"), most: min(o.Memory/4, mostIDs)}
	return b.Builder, nil
}

// NewBatch returns an empty batch for Add.
func (b *Builder) NewBatch() *Batch { return newBatch(b.x, false) }

// Options returns the options of the index, with defaults filled in.
func (b *Builder) Options() Options { return b.x.options }

// Replaced returns, after Finish, how many documents are not in the index since a later one has their id.
func (b *Builder) Replaced() int64 { return b.dead }

// Apart returns, after Finish, how many documents are named apart: see Document.Made.
func (b *Builder) Apart() int64 { return b.apart }

// Add adds the documents of a batch. With Options.ByID a document replaces an earlier one with the same id, but
// see Document.Made.
func (b *Builder) Add(batch *Batch) error {
	if b.err == nil {
		b.err = b.writing.add(batch)
	}
	return b.err
}

func (b *build) add(batch *Batch) error {
	if b.next+uint64(len(batch.docs)) > math.MaxUint32 {
		return fmt.Errorf("index: it takes %d documents at once, and there are more", uint32(math.MaxUint32))
	}
	b.docs = b.docs[:0]
	for i := range batch.docs {
		batch.docs[i].tick(&b.x.window)
		b.docs = append(b.docs, batch.arrival(&batch.docs[i]))
	}
	for i := range b.docs {
		a, slot := &b.docs[i], b.next+uint64(i)
		if err := b.s.engine.putRecord(a.record, a.sum, slot, b.pieces.put, b.records.put); err != nil {
			return err
		}
		if b.x.options.ByID {
			if err := b.ids.add(a.id, slot); err != nil {
				return err
			}
			if batch.docs[i].made {
				b.made = b.made.Grown(slot + 1)
				b.made.Add(slot)
			}
		}
		b.given += len(a.keys)
		if b.keys == nil {
			continue
		}
		b.value = sealed(appendFacts(b.value[:0], &facts{time: a.time, digest: a.digest, words: a.words}), slot)
		if err := errors.Join(b.put(&b.held, keyFacts, slot), b.keys.add(a, slot)); err != nil {
			return err
		}
	}
	from := b.next
	b.next += uint64(len(b.docs))
	if b.keys != nil {
		return nil
	}
	return inChunks(b.docs, from, func(slot uint64, docs []arrival) error {
		b.value = sealed(appendBlock(b.value[:0], b.x.judge.words, docs, func(int) bool { return false }), slot)
		if err := b.put(&b.held, keyBlock, slot); err != nil {
			return err
		}
		b.value = sealed(appendFilter(b.value[:0], docs), slot)
		return b.put(&b.filters, keyFilter, slot)
	})
}

// put writes the current value.
func (b *build) put(to *tables, kind byte, slot uint64) error {
	b.key = slotKey(b.key[:0], kind, slot)
	return to.put(b.key, b.value)
}

// Ceiling returns the OpenOptions.Memory that suffices to open the index of the documents added so far; it
// is too high if many documents are equal. With KeysOnDisk any value suffices, and it returns 0.
func (b *Builder) Ceiling() int64 {
	if b.x.options.Keys == KeysOnDisk {
		return 0
	}
	return OpenOptions{Options: b.x.options}.Ceiling(int64(b.next), int64(b.given))
}

// Finish turns the folder into the index of the documents that were added, durably, and returns how many
// documents it has. O(n log n) for n documents with keys on disk, else O(n).
func (b *Builder) Finish(ctx context.Context) (documents int64, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.err = b.writing.finish(ctx); b.err != nil {
		return 0, b.err
	}
	b.err = ErrClosed
	return b.x.counts.live.Load(), b.writing.release()
}

func (b *build) release() error { return b.s.folder.release() }

func (b *build) finish(ctx context.Context) error {
	for _, end := range []func() error{b.ids.flush, b.records.handOver, b.pieces.handOver, b.held.handOver, b.filters.handOver} {
		if err := end(); err != nil {
			return err
		}
	}
	dead, err := b.replaced(ctx)
	if err != nil {
		return err
	}
	if err := b.apartAtEnd(ctx, dead); err != nil {
		return err
	}
	b.dead = int64(dead.Len())
	live := b.next - uint64(dead.Len())
	b.x.view.Store(&view{Range: keytable.Range{Next: b.next}, table: keytable.New(b.x.options.BucketCap), words: b.x.judge.words})
	b.x.counts.live.Store(int64(live))
	if b.keys != nil {
		if err := b.keys.write(ctx, dead, b.next, b.x.options.BucketCap); err != nil {
			return err
		}
	}
	if err := b.complete(ctx, dead); err != nil {
		return err
	}
	err = b.s.closeStore()
	b.s.engine.db = nil // closed even after an error, and Pebble panics when it is closed twice
	if err != nil {
		return err
	}
	if err := b.s.folder.writeState(b.x, true); err != nil {
		return err
	}
	return b.s.folder.publish()
}

// replaced returns the slots of documents whose ids came again: slots to which no id leads.
func (b *build) replaced(ctx context.Context) (dead bitset.Set[uint64], err error) {
	dead = bitset.New[uint64](int(b.next))
	if !b.x.options.ByID {
		return dead, nil
	}
	for slot := range b.next {
		dead.Add(slot)
	}
	it, err := b.s.engine.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keyID}, UpperBound: []byte{keyID + 1}})
	if err != nil {
		return dead, asDamage(err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		var slot uint64
		if value, err = it.ValueAndErr(); err == nil {
			if slot, err = parseSlotOf(it.Key()[1:], value); err == nil {
				dead.Remove(slot)
			}
		}
	}
	return dead, errors.Join(asDamage(err), it.Close(), ctx.Err())
}

// removedAtOnce is how many documents one batch of Pebble removes.
const removedAtOnce = 1 << 12

// complete removes dead documents, and stores the values that an index has once.
func (b *build) complete(ctx context.Context, dead bitset.Set[uint64]) error {
	x, s := b.x, b.s
	batch := s.engine.db.NewBatch()
	n := 0
	for slot := range dead.All() {
		if n++; n%removedAtOnce == 0 {
			if err := errors.Join(ctx.Err(), s.queue.commit(batch)); err != nil {
				return err
			}
			batch = s.engine.db.NewBatch()
		}
		if err := s.engine.bury(batch, slot, b.keys != nil); err != nil {
			return err
		}
	}
	if err := putWindow(batch, 0, b.next, x.window.clock.Load()); err != nil {
		return err
	}
	if b.keys != nil {
		if err := batch.Set([]byte{keyTail}, tail(x.counts.live.Load(), b.next, 0), nil); err != nil {
			return err
		}
	}
	if err := s.queue.commit(batch); err != nil {
		return err
	}
	return s.engine.flush() // without a log, only this makes it durable
}

// Close gives up a build that was not finished, and removes its files. After Finish has returned nil it does
// nothing.
func (b *Builder) Close() error {
	if errors.Is(b.err, ErrClosed) {
		return nil
	}
	b.err = ErrClosed
	return b.writing.close()
}

func (b *build) close() error {
	s := b.s
	// Files that cannot be completed, perhaps because the disk is full, are removed anyway.
	_ = errors.Join(b.records.end(), b.pieces.end(), b.held.end(), b.filters.end(), b.ids.end())
	if b.keys != nil {
		_ = b.keys.close()
	}
	_ = s.closeStore()
	err := s.folder.clear()
	if err == nil {
		err = s.folder.fs.Remove(s.folder.path(begunFile))
	}
	err = errors.Join(err, s.folder.release())
	s.folder.removeMade()
	return err
}

// apartAtEnd does for a build what Index.Add does for each document: it names documents with made ids apart. dead has
// the slots of all documents whose ids came again; those that come back are taken out of it.
//
// An id is seldom that of a file and line, so few documents are read for this.
func (b *build) apartAtEnd(ctx context.Context, dead bitset.Set[uint64]) error {
	if len(b.made) == 0 {
		return nil
	}
	b.made = b.made.Grown(b.next)
	shared := map[string][]uint64{} // ids that a document with a made id shares with others → slots but for the last
	visit := func(found func(id []byte, slot, last uint64)) error {
		for slot := range dead.All() {
			r, err := b.stored(slot)
			if err != nil {
				return err
			}
			last, _, err := b.s.slotOf(r.id)
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			found(r.id, slot, last)
		}
		return nil
	}
	err := visit(func(id []byte, slot, last uint64) {
		if b.made.Has(slot) || b.made.Has(last) {
			shared[string(id)] = nil
		}
	})
	if err != nil || len(shared) == 0 {
		return err
	}
	ends := map[string]uint64{}
	err = visit(func(id []byte, slot, last uint64) {
		if slots, ok := shared[string(id)]; ok {
			shared[string(id)], ends[string(id)] = append(slots, slot), last
		}
	})
	batch := b.s.engine.db.NewBatch()
	for id, slots := range shared {
		if err == nil {
			err = b.share(batch, dead, append(slots, ends[id]))
		}
	}
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	return b.s.queue.commit(batch)
}

// share decides about the documents with one id, in the order in which they came.
func (b *build) share(batch *pebble.Batch, dead bitset.Set[uint64], slots []uint64) error {
	taken := map[string]uint64{} // ids of the documents so far
	for _, slot := range slots {
		mine, err := b.stored(slot)
		if err != nil {
			return err
		}
		given := len(mine.id)
		for b.made.Has(slot) {
			free, err := b.isFree(&mine, taken, len(mine.id) > given)
			if err != nil {
				return err
			}
			if free {
				break
			}
			mine = mine.renamedApart()
		}
		if before, found := taken[string(mine.id)]; found {
			dead.Add(before)
		}
		dead.Remove(slot)
		taken[string(mine.id)] = slot
		if len(mine.id) > given {
			b.apart++
			value := appendRecord(nil, mine)
			place := func(key, value []byte) error { return batch.Set(key, value, nil) }
			if err := b.s.engine.putRecord(value, durable.Checksum(0, value), slot, b.s.applier.putPiece, place); err != nil {
				return err
			}
		}
	}
	for id, slot := range taken {
		if err := batch.Set(append([]byte{keyID}, id...), appendSlotOf(nil, []byte(id), slot), nil); err != nil {
			return err
		}
	}
	return nil
}

// isFree tells whether a document with a made id can have its id: no document has it, or an equal one. taken has the
// ids of the documents before it that are decided about; renamed says that its id is a new one.
func (b *build) isFree(mine *record, taken map[string]uint64, renamed bool) (bool, error) {
	if slot, found := taken[string(mine.id)]; found {
		its, err := b.stored(slot)
		return its.same(mine), err
	}
	if !renamed {
		return true, nil
	}
	_, found, err := b.s.slotOf(mine.id)
	return !found, err
}

// stored reads a record that the build has written. The caller may keep it.
func (b *build) stored(slot uint64) (record, error) {
	value, err := b.s.get(nil, slot, nil)
	if err != nil {
		return record{}, err
	}
	return parseRecord(value)
}
