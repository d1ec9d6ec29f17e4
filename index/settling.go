package index

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/index/internal/keytable"
)

// settling moves documents from memory to the disk. The writer begins and ends it, which takes almost no time;
// another goroutine does the work:
//
//	writer     begin           keys of new documents go into another table from here on (view.frozen, view.older)
//	goroutine  run     flush: the documents to settle are durable
//	                   tables: g, keys, facts; keys of settled documents that have expired are removed
//	                   ingest: all of these or none
//	writer     finish  one batch: f, documents that were buried meanwhile, blocks and expired documents removed
//
// Between ingest and finish the disk has keys and facts of slots that are not settled. Look-ups ignore them, since
// look-ups on disk end at settled. If the process ends there, the next one has the documents in memory again, from
// their blocks, and settles them again: it writes the same keys and facts once more. Documents that were removed or
// expired before that get no keys then; g tells which of them have keys on disk, to be removed.
type settling struct {
	tables
	x      *collection
	queue  *queue
	view   *view // when it began: documents from settled up to Next
	ready  uint64
	from   uint64 // expired documents are removed from this slot
	to     uint64 // up to this one
	most   int    // most keys of expired documents at once, as memory holds them
	finder *finder

	work    int64        // estimate of all work, in units of a key
	worked  atomic.Int64 // work done
	since   int          // work since this goroutine last yielded the processor
	stopped atomic.Bool
	ended   chan struct{} // closed when run has returned
	err     error         // of run
}

var errStopped = errors.New("index: stopped")

// keyParts is the number of parts, in the order of prints, by which keys are sorted.
const keyParts = 1 << 10

func partOf(print uint64) int { return int(print >> (keytable.PrintBits - 10)) }

// A settler settles documents when memory holds many. It belongs to the writer; nil, it settles nothing.
type settler struct {
	x        *collection
	folder   *folder
	queue    *queue
	applier  *applier
	tailKeys int       // most keys that memory holds
	ready    uint64    // documents before this slot have keys and facts on disk, settled or not
	late     late      // changes to documents that are being settled
	current  *settling // nil: no documents are being settled
}

// settle settles documents if memory holds half of the keys that it may hold, or all documents at once. It is
// called after each batch, and ends a settling that is done.
func (s *settler) settle(all bool) error {
	if s == nil {
		return nil
	}
	if all {
		if err := s.finish(); err != nil || s.x.view.Load().settled == s.x.view.Load().Next {
			return err
		}
		s.begin()
		return s.finish()
	}
	keys := s.x.view.Load().table.Len()
	if w := s.current; w != nil && !w.hasEnded() && keys < s.tailKeys {
		w.slow(float64(keys) / float64(s.tailKeys/2))
		return nil
	}
	if err := s.finish(); err != nil {
		return err
	}
	if keys >= s.tailKeys/2 {
		s.begin()
	}
	return nil
}

// begin begins to settle the documents in memory.
func (s *settler) begin() {
	v := *s.x.view.Load()
	v.frozen, v.older, v.table = v.Next, v.table, keytable.New(s.x.options.BucketCap)
	s.x.view.Store(&v)
	w := &settling{
		tables: tables{folder: s.folder, engine: s.queue.engine, full: tableFile, plain: true}, x: s.x, queue: s.queue, view: &v, ready: s.ready,
		from: s.applier.trimmed, to: v.First, most: s.tailKeys, finder: newFinder(s.x), ended: make(chan struct{}),
	}
	w.work = int64(v.older.Len()) + factsWork*int64(v.Next-v.settled) + removeWork*int64(w.to-w.from) + 1
	s.current = w
	go func() {
		defer close(w.ended)
		if w.err = w.run(); w.err != nil {
			w.err = errors.Join(w.err, w.abort())
		}
	}()
}

// The work of settling one document, in units of a key.
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

// slow makes the writer wait if memory fills faster than documents are settled. The further ahead the writer is,
// the longer it waits, so that both reach the same speed. filled is the share of the room for new keys that is
// used.
func (w *settling) slow(filled float64) {
	ahead := filled - float64(w.worked.Load())/float64(w.work) - 0.1
	wait := min(time.Duration(ahead*float64(10*longestWait)), longestWait)
	if wait < longestWait/50 {
		return // a timer costs as much
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ended:
	}
}

// finish waits for the documents that are being settled, if any, and shows them as settled.
func (s *settler) finish() error {
	if s == nil || s.current == nil {
		return nil
	}
	w := s.current
	<-w.ended
	s.current = nil
	if w.err != nil {
		return w.err
	}
	frozen := w.view.Next
	b := s.queue.engine.db.NewBatch()
	var err error
	for _, k := range s.late.keys {
		err = errors.Join(err, putKey(b, k))
	}
	for _, slot := range s.late.dead {
		err = errors.Join(err, b.Delete(slotKey(nil, keyFacts, slot), nil))
	}
	from := w.view.settled &^ (chunkDocs - 1)
	for _, gone := range []struct {
		kind     byte
		from, to uint64
	}{{keyRecord, w.from, w.to}, {keyPiece, w.from, w.to}, {keyFacts, w.from, w.to}, {keyBlock, from, frozen}, {keyDead, from, frozen}} {
		if gone.from < gone.to {
			err = errors.Join(err, b.DeleteRange(slotKey(nil, gone.kind, gone.from), slotKey(nil, gone.kind, gone.to), nil))
		}
	}
	if err = errors.Join(err, b.Set([]byte{keyTail}, tail(s.x.counts.live.Load(), frozen, w.to), nil)); err != nil {
		return err
	}
	if err := s.queue.commit(b); err != nil {
		return err
	}
	s.applier.trimmed, s.ready = w.to, frozen
	s.late = late{}
	shown := *s.x.view.Load()
	shown.settled, shown.frozen, shown.older = frozen, frozen, nil
	shown.letGo(frozen)
	s.x.view.Store(&shown)
	return nil
}

// stop ends the goroutine that settles documents, if there is one, and discards its work.
func (s *settler) stop() {
	if s != nil && s.current != nil {
		s.current.stopped.Store(true)
		<-s.current.ended
		s.current = nil
	}
}

// run writes the tables with keys and facts, and gives them to the store. The documents themselves must be durable
// before.
func (w *settling) run() error {
	if _, err := w.queue.drain(); err != nil {
		return err
	}
	if err := w.engine.flush(); err != nil {
		return err
	}
	expired, err := w.expired()
	if err != nil {
		return err
	}
	ready := sealed(appendNumbers(nil, []uint64{w.view.Next}), 0)
	for _, step := range []func() error{
		func() error { return w.set([]byte{keyReady}, ready) },
		w.end,
		func() error { return w.keys(expired) },
		w.end,
		w.facts,
		w.end,
		w.waitForRoom,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return w.ingest()
}

// mostLevels is how many overlapping tables, each of which every look-up reads, may exist before new ones wait for
// Pebble to merge them. Pebble stops all writes at L0StopWritesThreshold.
const mostLevels = 12

// waitForRoom waits until Pebble has merged enough of the earlier tables.
func (w *settling) waitForRoom() error {
	for {
		m, err := w.engine.metrics()
		if err != nil || m.Levels[0].Sublevels < mostLevels {
			return err
		}
		if w.stopped.Load() {
			return errStopped
		}
		time.Sleep(longestWait)
	}
}

// atOnce is how much work, about a millisecond, is done before the goroutine yields the processor: a goroutine that
// does not yield keeps it for ten milliseconds.
const atOnce = 2048

// did counts work, and yields the processor now and then.
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

// expired returns the keys on disk of documents that have expired since the last settling, or that were removed
// after they got them, in parts by the order of prints.
func (w *settling) expired() (parts [][]entry, err error) {
	n := 0
	parts = make([][]entry, keyParts)
	add := func(slot uint64, keys []uint64) {
		for _, key := range keys {
			print := keytable.Print(key)
			parts[partOf(print)] = append(parts[partOf(print)], entry{Key: print, Value: slot})
		}
		n += len(keys)
	}
	if err := w.given(add); err != nil {
		return nil, err
	}
	enough := errors.New("enough")
	err = w.engine.each(keyRecord, w.from, min(w.view.First, w.view.settled), func(slot uint64, value []byte) error {
		if n >= w.most {
			w.to = slot // the rest waits for the next settling
			return enough
		}
		body, _, err := w.engine.record(value, slot)
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
			return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
		})
		if err := w.did(len(parts[i]) / 4); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// given calls add for the keys of documents to which an earlier process gave keys on disk, and which have gone
// before they were settled.
func (w *settling) given(add func(slot uint64, keys []uint64)) error {
	v := w.view
	if w.ready <= v.settled {
		return nil
	}
	return w.engine.each(keyBlock, v.settled&^(chunkDocs-1), w.ready, func(start uint64, value []byte) error {
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

// keys writes the keys of the documents, and removes those of expired documents.
func (w *settling) keys(expired [][]entry) error {
	var key []byte
	var last keyOf
	begun := false
	put := func(k keyOf) error {
		if begun && k.print == last.print && k.slot == last.slot {
			return nil // two keys of one document may have equal prints
		}
		last, begun = k, true
		if err := w.did(1); err != nil {
			return err
		}
		if err := w.room(); err != nil {
			return err
		}
		if key = k.append(key[:0]); k.has {
			return w.set(key, nil)
		}
		return w.unset(key)
	}
	part := 0
	// before removes the expired keys that sort before this one.
	before := func(k keyOf) error {
		for ; part < len(expired); part++ {
			for len(expired[part]) > 0 {
				e := keyOf{expired[part][0].Key, expired[part][0].Value, false}
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
	err := v.older.Each(keytable.Range{First: max(v.First, v.settled), Next: v.Next}, func(print, slot uint64) error {
		k := keyOf{print, slot, true}
		if err := before(k); err != nil {
			return err
		}
		return put(k)
	})
	if err != nil {
		return err
	}
	return before(keyOf{print: 1 << keytable.PrintBits})
}

// facts writes the facts of documents, and removes facts that an earlier process wrote of documents that were
// removed since.
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
