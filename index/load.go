package index

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/index/internal/keytable"
)

// load reads from the store the data that memory holds. It is no method of writer: see lateTable.
func load(w *writer, a *applier, s *settler, threads int) error {
	e := a.queue.engine
	first, next, clock, err := readWindow(e.db)
	if err != nil {
		return err
	}
	settled, trimmed, live, ready := uint64(0), first&^(chunkDocs-1), int64(0), uint64(0)
	if s != nil {
		settled, trimmed, live, ready, err = readTail(e.db)
		s.ready = ready
	}
	if most := max(settled, ready); err == nil && most > next {
		err = fmt.Errorf("index: %w: %d slots are settled, and there are %d", errDamaged, most, next)
	}
	if err != nil {
		return err
	}
	held := max(first, settled) // documents from here on are held in memory
	l := &loading{x: w.collection, engine: e, threads: cmp.Or(threads, runtime.GOMAXPROCS(0)), held: held, view: view{
		Range: keytable.Range{First: first, Next: next}, base: held >> chunkBits, table: keytable.New(w.options.BucketCap), words: w.judge.words,
		settled: settled, frozen: settled, disk: e,
	}}
	if err := fits(w.collection, next-held); err != nil {
		return err
	}
	for slot := held &^ (chunkDocs - 1); slot < next; slot += chunkDocs {
		l.view.chunks = append(l.view.chunks, newChunk(w.judge.words, false))
	}
	if err := l.readDead(); err != nil {
		return err
	}
	for from := held &^ (chunkDocs - 1); from < next; from += roundDocs {
		if err := l.round(from, min(from+roundDocs, next)); err != nil {
			return err
		}
	}
	all := l.view.table.Bytes() + l.view.slotBytes()
	if err := w.ceiling.fits(next-held, all, all, w.ceiling.beside); err != nil {
		return err
	}
	a.trimmed, a.slots = trimmed, next
	if err := a.loadPast(); err != nil {
		return err
	}
	w.view.Store(&l.view)
	w.growing = l.view
	w.window.clock.Store(clock)
	if s == nil {
		live = l.view.live()
	}
	w.counts.live.Store(live)
	return w.setMarks()
}

// fits is an error if memory may not hold so many documents, as far as can be told before they are read.
func fits(x *collection, documents uint64) error {
	slots := int64(documents) * slotSize(x.judge.words) // in addition to their keys
	return x.ceiling.fits(documents, slots, slots+keytable.ReservedBytes(int(documents)*(x.options.Recipe.Keys()+1)), x.ceiling.beside)
}

// loading fills memory from the store: documents are read in parallel, a round of chunks at a time,
// and their keys sorted by partition; then partitions are filled in parallel, each in slot order, so
// that the table is the same as before.
type loading struct {
	x       *collection
	engine  *engine
	threads int
	view    view
	held    uint64    // first slot that memory holds
	parts   []*loaded // one of each goroutine, in slot order
	copies  []bool    // documents of the round that equal an earlier one

	reserved bool // the table has room for the expected keys
}

// partitions is the number of parts of the table that can be filled independently.
const partitions = 256

func partitionOf(key uint64) int { return keytable.Shard(key) * partitions / keytable.Shards }

// roundDocs is how many documents are read before their keys go into the table. By then a partition
// has many keys, so that its part of the table stays in the cache.
const roundDocs = 64 * chunkDocs

// readDead marks the documents that are dead.
func (l *loading) readDead() error {
	return l.engine.each(keyDead, l.held, l.view.Next, func(slot uint64, value []byte) error {
		if _, err := unseal(value, slot); err != nil {
			return fmt.Errorf("index: mark of dead slot %d: %w", slot, err)
		}
		l.view.chunk(slot).bury(slot)
		return nil
	})
}

// round reads the documents of a range and puts their keys into the table.
func (l *loading) round(from, to uint64) error {
	chunks := (to - from + chunkDocs - 1) / chunkDocs
	each := (chunks + uint64(l.threads) - 1) / uint64(l.threads) * chunkDocs
	var readers sync.WaitGroup
	n := 0
	for start := from; start < to; start += each {
		if n == len(l.parts) {
			l.parts = append(l.parts, &loaded{})
		}
		p := l.parts[n]
		p.empty()
		n++
		readers.Go(func() { p.err = l.read(p, start, min(start+each, to)) })
	}
	readers.Wait()
	l.parts = l.parts[:n]
	for _, p := range l.parts {
		if p.err != nil {
			return p.err
		}
	}
	l.fill(func(p *loaded) *[partitions][]entry { return &p.digests }, nil)
	var copies func(slot uint64) bool
	if !l.x.window.expires() {
		if err := l.findCopies(from, to); err != nil {
			return err
		}
		copies = func(slot uint64) bool { return l.copies[slot-from] }
	}
	if !l.reserved && l.view.Next > to {
		if err := l.reserve(from, to); err != nil {
			return err
		}
	}
	l.fill(func(p *loaded) *[partitions][]entry { return &p.others }, copies)
	return nil
}

// loaded is the result of one goroutine in a round.
type loaded struct {
	digests, others [partitions][]entry
	err             error
}

// empty prepares a part for another round and keeps its memory.
func (p *loaded) empty() {
	for i := range partitions {
		p.digests[i], p.others[i] = p.digests[i][:0], p.others[i][:0]
	}
	p.err = nil
}

// read reads the blocks of some chunks. There must be one for each slot of the window.
func (l *loading) read(p *loaded, from, to uint64) error {
	want := max(from, l.held)
	err := l.engine.each(keyBlock, from, to, func(start uint64, value []byte) error {
		body, err := unseal(value, start)
		if err != nil {
			return fmt.Errorf("index: block of slot %d: %w", start, err)
		}
		if start > want {
			return fmt.Errorf("index: block of slot %d: %w: it is missing", want, errDamaged)
		}
		n, err := parseBlock(body, l.x.judge.words, func(i int, d *arrival, dead bool) error {
			slot := start + uint64(i)
			if slot>>chunkBits != start>>chunkBits || slot >= l.view.Next {
				return fmt.Errorf("%w: it has too many documents", errDamaged)
			}
			if slot >= l.held {
				l.take(p, slot, d, dead)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("index: block of slot %d: %w", start, err)
		}
		want = max(want, start+uint64(n))
		return nil
	})
	if err == nil && want < to {
		err = fmt.Errorf("index: block of slot %d: %w: it is missing", want, errDamaged)
	}
	return err
}

// take puts the data of a document into its chunk and its part.
func (l *loading) take(p *loaded, slot uint64, d *arrival, dead bool) {
	c := l.view.chunk(slot)
	c.times[slot%chunkDocs], c.digests[slot%chunkDocs] = d.time, d.digest
	copy(c.signature(slot, l.x.judge.words), d.words)
	if dead {
		c.bury(slot)
	}
	if c.isDead(slot) {
		return
	}
	ways := l.x.options.Recipe.Keys() + 1
	for i, key := range d.keys {
		at, to := partitionOf(key), &p.others
		if i == ways-1 {
			to = &p.digests
		}
		to[at] = append(to[at], entry{Key: key, Value: slot})
	}
}

// findCopies finds the documents of a round that equal an earlier one. See Index.keysOf.
func (l *loading) findCopies(from, to uint64) error {
	l.copies = append(l.copies[:0], make([]bool, to-from)...)
	var finders sync.WaitGroup
	errs := make([]error, l.threads)
	for n := range l.threads {
		finders.Go(func() {
			f := newFinder(l.x)
			var slots []uint64
			for i := n; i < partitions; i += l.threads {
				for _, p := range l.parts {
					for _, e := range p.digests[i] {
						digest := l.view.chunk(e.Value).digests[e.Value%chunkDocs]
						slots = l.view.table.Append(slots[:0], e.Key, keytable.Range{First: l.held, Next: e.Value})
						copied := slices.ContainsFunc(slots, func(slot uint64) bool {
							return l.view.chunk(slot).digests[slot%chunkDocs] == digest
						})
						if !copied && l.view.settled > l.view.First {
							settled := l.view
							settled.Next = l.view.settled
							copies, err := f.copies(&settled, e.Key, digest)
							if err != nil {
								errs[n] = err
								return
							}
							copied = len(copies) > 0
						}
						l.copies[e.Value-from] = copied
					}
				}
			}
		})
	}
	finders.Wait()
	return errors.Join(errs...)
}

// reserve makes room in the table for the keys of all documents, if these have as many as the
// documents of the first round: otherwise shards would have to grow several times. It is an error if
// memory may not hold as many.
func (l *loading) reserve(from, to uint64) error {
	l.reserved = true
	keys := 0
	for _, p := range l.parts {
		for i := range partitions {
			keys += len(p.digests[i])
			for _, e := range p.others[i] {
				if len(l.copies) == 0 || !l.copies[e.Value-from] {
					keys++
				}
			}
		}
	}
	keys = int(float64(keys) / float64(to-from) * float64(l.view.Next-from))
	held := keytable.ReservedBytes(keys) + l.view.slotBytes()
	if err := l.x.ceiling.fits(l.view.Next-l.held, held, held, l.x.ceiling.beside); err != nil {
		return err
	}
	l.view.table.Reserve(keys)
	return nil
}

// fill puts keys into the table, except those of copies.
func (l *loading) fill(of func(*loaded) *[partitions][]entry, copies func(slot uint64) bool) {
	var fillers sync.WaitGroup
	for n := range l.threads {
		fillers.Go(func() {
			keys := make([]uint64, 0, touchedAtOnce)
			for i := n; i < partitions; i += l.threads {
				for _, p := range l.parts {
					for entries := range slices.Chunk(of(p)[i], touchedAtOnce) {
						keys = keys[:0]
						for _, e := range entries {
							keys = append(keys, e.Key)
						}
						l.view.table.Touch(keys)
						l.insert(entries, copies)
					}
				}
			}
		})
	}
	fillers.Wait()
}

// touchedAtOnce is how many keys' places in the table are brought into the cache at once: a miss takes longer than
// the insertion, and independent misses overlap.
const touchedAtOnce = 32

func (l *loading) insert(entries []entry, copies func(slot uint64) bool) {
	for _, e := range entries {
		if copies != nil && copies(e.Value) {
			continue
		}
		if !l.view.table.Insert(e.Key, e.Value, l.view.Range) {
			l.x.counts.full.Add(1)
		}
	}
}

// setMarks makes the marks of the documents in the index.
func (w *writer) setMarks() error {
	if w.window.Age == 0 {
		return nil
	}
	v, newest, held := w.view.Load(), int64(math.MinInt64), &w.finder.held
	for slot := v.First; slot < v.Next; slot++ {
		held.time = newest // of a settled document that is dead
		if _, err := v.facts(slot, held); err != nil {
			return err
		}
		newest = max(newest, min(held.time, w.window.clock.Load()))
		if w.window.due(w.marks, newest) || slot+1 == v.Next {
			w.marks = append(w.marks, mark{slot + 1, newest})
		}
	}
	return nil
}

// readWindow reads the range of slots and the clock from the store.
func readWindow(db *pebble.DB) (first, next uint64, clock int64, err error) {
	value, closer, err := db.Get([]byte{keyWindow})
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, 0, math.MinInt64, nil
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("index: window: %w", asDamage(err))
	}
	first, next, clock, err = parseWindow(value)
	return first, next, clock, errors.Join(err, closer.Close())
}

// readTail reads how far documents are settled, and how far they have keys and facts on disk.
func readTail(db *pebble.DB) (settled, trimmed uint64, live int64, ready uint64, err error) {
	tail, err := numbersAt(db, keyTail, 3)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	last, err := numbersAt(db, keyReady, 1)
	return tail[0], tail[1], int64(tail[2]), last[0], err
}

// numbersAt reads the n numbers of a key of one letter; zeros if it does not exist.
func numbersAt(db *pebble.DB, letter byte, n int) ([]uint64, error) {
	value, closer, err := db.Get([]byte{letter})
	if errors.Is(err, pebble.ErrNotFound) {
		return make([]uint64, n), nil
	}
	if err != nil {
		return make([]uint64, n), fmt.Errorf("index: settled documents: %w", asDamage(err))
	}
	body, err := unseal(value, 0)
	if err == nil && len(body) != 8*n {
		err = errDamaged
	}
	if err != nil {
		return make([]uint64, n), errors.Join(fmt.Errorf("index: settled documents: %w", err), closer.Close())
	}
	return numbers(nil, body), closer.Close()
}

// loadPast finds where the history begins and ends.
func (a *applier) loadPast() error {
	it, err := a.queue.engine.ofKind(keyPast)
	if err != nil {
		return asDamage(err)
	}
	if it.First() {
		a.past.first, err = parseSlotKey(it.Key())
	}
	if err == nil && it.Last() {
		var value []byte
		if a.past.next, err = parseSlotKey(it.Key()); err == nil {
			if value, err = it.ValueAndErr(); err == nil {
				a.past.next += uint64(len(value) / 8)
			}
		}
	}
	if err = errors.Join(err, it.Close()); err != nil {
		return fmt.Errorf("index: history: %w", asDamage(err))
	}
	return nil
}
