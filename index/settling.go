package index

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/index/internal/table"
)

// settling is documents on their way from memory to the disk. The writer begins and ends it, which
// takes it no time to speak of; another goroutine does the work:
//
//	writer     begin   what comes from here on has its keys in another table (view.frozen, view.older)
//	goroutine  run     flush: what is settled is durable
//	                   tables: g, keys, facts; keys of settled documents that have expired are removed
//	                   ingest: all of these or none
//	writer     finish  one batch: f, documents that were buried meanwhile, blocks and expired documents removed
//
// Between ingest and finish there are keys and facts on disk of slots that are not settled. Nobody
// looks at them, since look-ups on disk end at settled. A process that ends there has the documents
// in memory again, from their blocks, and settles them again: the same keys and facts once more. What was
// buried or has expired before that gets no keys then, and those that it has are known by g.
type settling struct {
	tables
	x      *Index
	view   *view // when it began: documents from settled up to Next
	ready  uint64
	from   uint64 // expired documents are removed from this slot
	to     uint64 // up to this one
	most   int    // keys of these at once, which memory holds
	finder *finder

	work    int64        // there is, about, in units of a key
	worked  atomic.Int64 // of it
	since   int          // work since others had the processor
	stopped atomic.Bool
	ended   chan struct{} // closed when run has returned
	err     error         // of run
}

// late is what happens to documents while they are being settled.
type late struct {
	keys []keyOf
	dead []uint64
}

var errStopped = errors.New("index: stopped")

// keyParts is in how many parts, in the order of prints, keys are sorted.
const keyParts = 1 << 10

func partOf(print uint64) int { return int(print >> (table.PrintBits - 10)) }

// settle settles documents if memory holds as many keys as it may, or all of them at once. It is called
// after each batch, and ends a settling that is done.
func (s *disk) settle(x *Index, all bool) error {
	if !s.onDisk {
		return nil
	}
	if all {
		if err := s.settled(x); err != nil || x.view.Load().settled == x.view.Load().Next {
			return err
		}
		s.begin(x)
		return s.settled(x)
	}
	keys := x.view.Load().table.Len()
	if w := s.settling; w != nil && !w.hasEnded() {
		if keys < s.tailKeys {
			w.slow(float64(keys) / float64(s.tailKeys/2))
			return nil
		}
	}
	if err := s.settled(x); err != nil {
		return err
	}
	if keys >= s.tailKeys/2 {
		s.begin(x)
	}
	return nil
}

// begin begins to settle what memory holds.
func (s *disk) begin(x *Index) {
	v := *x.view.Load()
	v.frozen, v.older, v.table = v.Next, v.table, table.New(x.options.BucketCap)
	x.view.Store(&v)
	w := &settling{
		tables: tables{s: s, full: tableFile, plain: true}, x: x, view: &v, ready: s.ready,
		from: s.trimmed, to: v.First, most: s.tailKeys, finder: newFinder(x), ended: make(chan struct{}),
	}
	w.work = int64(v.older.Len()) + factsWork*int64(v.Next-v.settled) + removeWork*int64(w.to-w.from) + 1
	s.settling = w
	go func() {
		defer close(w.ended)
		if w.err = w.run(); w.err != nil {
			w.err = errors.Join(w.err, w.abort())
		}
	}()
}

// What settling takes of one document, in units of a key.
const (
	factsWork  = 2
	removeWork = 25
)

func (w *settling) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// slow has the writer wait, if memory fills faster than documents are settled: longer the further ahead it is, so
// that both come to have the same speed. filled is how much of the room for what comes is taken.
func (w *settling) slow(filled float64) {
	ahead := filled - float64(w.worked.Load())/float64(w.work) - 0.1
	wait := min(time.Duration(ahead*float64(10*longestWait)), longestWait)
	if wait < longestWait/50 {
		return // a timer takes as long
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ended:
	}
}

// settled waits for the documents that are being settled, if there are any, and shows that they are.
func (s *disk) settled(x *Index) error {
	w := s.settling
	if w == nil {
		return nil
	}
	<-w.ended
	s.settling = nil
	if w.err != nil {
		return w.err
	}
	frozen := w.view.Next
	b := s.db.NewBatch()
	var err error
	for _, k := range x.late.keys {
		err = errors.Join(err, k.put(b))
	}
	for _, slot := range x.late.dead {
		err = errors.Join(err, b.Delete(slotKey(nil, keyFacts, slot), nil))
	}
	from := w.view.settled &^ (chunkDocs - 1)
	for _, gone := range []struct {
		kind     byte
		from, to uint64
	}{{keyRecord, w.from, w.to}, {keyFacts, w.from, w.to}, {keyBlock, from, frozen}, {keyDead, from, frozen}} {
		if gone.from < gone.to {
			err = errors.Join(err, b.DeleteRange(slotKey(nil, gone.kind, gone.from), slotKey(nil, gone.kind, gone.to), nil))
		}
	}
	if err = errors.Join(err, b.Set([]byte{keyTail}, s.tail(x, frozen, w.to), nil)); err != nil {
		return err
	}
	if err := s.commit(b); err != nil {
		return err
	}
	s.trimmed, s.ready = w.to, frozen
	x.late = late{}
	shown := *x.view.Load()
	shown.settled, shown.frozen, shown.older = frozen, frozen, nil
	shown.letGo(frozen)
	x.view.Store(&shown)
	return nil
}

// stopSettling ends the goroutine that settles documents, if there is one, and forgets what it did.
func (s *disk) stopSettling() {
	if s.settling != nil {
		s.settling.stopped.Store(true)
		<-s.settling.ended
		s.settling = nil
	}
}

// run writes the tables with which documents are settled, and gives them to the store. What they say of
// must have been written before.
func (w *settling) run() error {
	if err := w.s.do(w.s.db.Flush); err != nil {
		return err
	}
	expired, err := w.expired()
	if err != nil {
		return err
	}
	err = cmp.Or(
		w.set([]byte{keyReady}, sealed(appendNumbers(nil, []uint64{w.view.Next}), 0)),
		w.end(),
		w.keys(expired),
		w.end(),
		w.facts(),
		w.end(),
		w.waitForRoom(),
	)
	if err != nil {
		return err
	}
	return w.ingest()
}

// mostLevels is how many tables may lie above each other, that each look-up asks, before the next ones wait for
// Pebble to merge them. It stops all writes at L0StopWritesThreshold.
const mostLevels = 12

// waitForRoom waits until Pebble has merged what it was given before.
func (w *settling) waitForRoom() error {
	for {
		m, err := w.s.metrics()
		if err != nil || m.Levels[0].Sublevels < mostLevels {
			return err
		}
		if w.stopped.Load() {
			return errStopped
		}
		time.Sleep(longestWait)
	}
}

// atOnce is how much work, about a millisecond, is done before others have the processor: a goroutine that does not
// give it away has it for ten.
const atOnce = 2048

// did counts work.
func (w *settling) did(work int) error {
	if w.since += work; w.since < atOnce {
		return nil
	}
	w.worked.Add(int64(w.since))
	w.since = 0
	runtime.Gosched()
	if w.stopped.Load() {
		return errStopped
	}
	return nil
}

// expired returns the keys on disk of documents that have expired since documents were settled last, or
// that were buried after they got them, by parts in the order of prints.
func (w *settling) expired() (parts [][]entry, err error) {
	n := 0
	parts = make([][]entry, keyParts)
	add := func(slot uint64, keys []uint64) {
		for _, key := range keys {
			print := table.Print(key)
			parts[partOf(print)] = append(parts[partOf(print)], entry{print, slot})
		}
		n += len(keys)
	}
	if err := w.given(add); err != nil {
		return nil, err
	}
	enough := errors.New("enough")
	err = w.s.each(keyRecord, w.from, min(w.view.First, w.view.settled), func(slot uint64, value []byte) error {
		if n >= w.most {
			w.to = slot // the next time
			return enough
		}
		body, err := unseal(value, slot)
		if err != nil {
			return err
		}
		r, err := parseRecord(body)
		if err != nil {
			return err
		}
		add(slot, w.finder.keysOf(r))
		return w.did(removeWork)
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	for i := range parts {
		slices.SortFunc(parts[i], func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.slot, b.slot))
		})
		if err := w.did(len(parts[i]) / 4); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// given tells the keys of documents that an earlier process has given keys on disk and that have gone
// before they were settled.
func (w *settling) given(add func(slot uint64, keys []uint64)) error {
	v := w.view
	if w.ready <= v.settled {
		return nil
	}
	return w.s.each(keyBlock, v.settled&^(chunkDocs-1), w.ready, func(start uint64, value []byte) error {
		body, err := unseal(value, start)
		if err != nil {
			return err
		}
		_, err = parseBlock(body, w.x.judge.words, func(i int, d *arrival, _ bool) error {
			if slot := start + uint64(i); slot >= v.settled && slot < w.ready && !v.has(slot) {
				add(slot, d.keys)
			}
			return nil
		})
		return err
	})
}

// keys writes the keys of what memory holds, and removes those of what has expired.
func (w *settling) keys(expired [][]entry) error {
	var key []byte
	var last keyOf
	begun := false
	put := func(k keyOf) error {
		if begun && k.print == last.print && k.slot == last.slot {
			return nil // two keys of a document have one print
		}
		last, begun = k, true
		if err := cmp.Or(w.did(1), w.room()); err != nil {
			return err
		}
		if key = k.append(key[:0]); k.has {
			return w.set(key, nil)
		}
		return w.unset(key)
	}
	part := 0
	// before removes keys that come before this one.
	before := func(k keyOf) error {
		for ; part < len(expired); part++ {
			for len(expired[part]) > 0 {
				e := keyOf{expired[part][0].key, expired[part][0].slot, false}
				if compareKeys(e, k) >= 0 {
					return nil
				}
				if err := put(e); err != nil {
					return err
				}
				expired[part] = expired[part][1:]
			}
		}
		return nil
	}
	v := w.view
	err := v.older.Each(table.Range{First: max(v.First, v.settled), Next: v.Next}, func(print, slot uint64) error {
		k := keyOf{print, slot, true}
		return cmp.Or(before(k), put(k))
	})
	return cmp.Or(err, before(keyOf{print: 1 << table.PrintBits}))
}

// facts writes what is held of documents besides keys, and removes what was written of those that were
// buried since.
func (w *settling) facts() error {
	v := w.view
	var f facts
	var key, value []byte
	for slot := max(v.First, v.settled); slot < v.Next; slot++ {
		alive, err := v.facts(slot, &f)
		if err != nil {
			return err
		}
		key = slotKey(key[:0], keyFacts, slot)
		if err := w.did(factsWork); err != nil {
			return err
		}
		if alive {
			value = appendFacts(value[:0], &f)
			err = w.set(key, sealed(value, slot))
		} else if slot < w.ready {
			err = w.unset(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
