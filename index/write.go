package index

import (
	"bytes"
	"fmt"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/durable"
)

// A writer makes the changes of one batch after the other, and publishes each as a view. It belongs to one goroutine
// at a time: the one that holds Index.lock.
type writer struct {
	*collection
	changes // of the current batch
	finder  *finder
	recent  recent
	keys    []uint64 // that the last documents may have
	marks   []mark
	failed  error
	asked   uint64 // number of slots when memory was last known to have room

	// What would be allocated for each document: see grown and findOriginal.
	seen   view
	query  query
	record []byte // of the query
	set    func() []uint64
	stored func(slot uint64) (record, error)
}

func newWriter(c *collection) *writer {
	w := &writer{collection: c, changes: changes{named: map[string]uint64{}}, finder: newFinder(c)}
	w.set = func() []uint64 { return w.finder.querySet(w.record) }
	w.stored = w.read
	return w
}

// grown returns the view of all documents so far, with those of the current batch. It is valid until the next call.
func (w *writer) grown(now keytable.Range) *view {
	w.seen = w.growing
	w.seen.Range = now
	return &w.seen
}

// decide decides about one document of a batch, and adds it if it is new.
func (w *writer) decide(b *Batch, p *prepared) (Verdict, error) {
	w.counts.checked.Add(1)
	if w.options.ByID {
		v, outdated, err := w.known(b, spanned(b.ids, p.id))
		if err == nil && outdated {
			err = w.replace(spanned(b.ids, p.id))
		}
		if err != nil || v.Known {
			return v, err
		}
	}
	p.tick(&w.window)
	if err := w.findOriginal(b, p); err != nil {
		return Verdict{}, err
	}
	late := w.window.tooLate(p.time)
	switch {
	case p.found:
		return w.duplicate(b, p, late)
	case late:
		w.counts.late.Add(1)
		return Verdict{New: true, Late: true}, nil
	}
	v := Verdict{New: true, Slot: w.next}
	return v, w.insert(b.arrival(p))
}

// ask decides about one document of a batch and changes nothing.
func (w *writer) ask(b *Batch, p *prepared) (Verdict, error) {
	if w.options.ByID {
		if v, _, err := w.known(b, spanned(b.ids, p.id)); err != nil || v.Known {
			return v, err
		}
	}
	if !p.timed {
		p.time = w.window.untimed()
	}
	if err := w.findOriginal(b, p); err != nil {
		return Verdict{}, err
	}
	v := Verdict{New: !p.found, Slot: w.next, Late: w.window.tooLate(p.time)}
	if !p.found {
		return v, nil
	}
	v.Slot, v.Similarity = p.slot, p.similarity
	_, err := w.describe(b, &v)
	return v, err
}

// known tells by a verdict whether a document has the id. One that is too old for the window, and only not removed yet,
// is outdated.
func (w *writer) known(b *Batch, id []byte) (v Verdict, outdated bool, err error) {
	slot, found, err := w.holderOf(id)
	if err != nil || !found {
		return v, false, err
	}
	if _, err := w.growing.facts(slot, &w.finder.held); err != nil {
		return v, false, err
	}
	if w.window.tooLate(w.finder.held.time) {
		return v, true, nil
	}
	v = Verdict{Known: true, Slot: slot}
	_, err = w.describe(b, &v)
	return v, false, err
}

// describe fills in id and columns of the document in a verdict's slot, in the memory of the batch.
func (w *writer) describe(b *Batch, v *Verdict) (r record, err error) {
	if r, err = w.read(v.Slot); err != nil {
		return r, err
	}
	from := len(b.ids)
	b.ids = append(b.ids, r.id...)
	v.Of = b.ids[from:len(b.ids):len(b.ids)]
	if len(r.columns) > 0 {
		from = len(b.ids)
		b.ids = append(b.ids, r.columns...)
		v.Columns, err = parseColumns(b.ids[from:len(b.ids):len(b.ids)])
	}
	return r, err
}

// findOriginal completes the search that the batch has made in its view: the document that it has found may have
// gone since, and documents that were added since may be similar. The document has its time.
func (w *writer) findOriginal(b *Batch, p *prepared) (err error) {
	now := keytable.Range{First: w.growing.First, Next: w.next}
	grown := w.grown(now)
	look := b.view.after(now)
	if p.found {
		alive := p.slot >= grown.First
		if alive {
			if alive, err = grown.facts(p.slot, &w.finder.held); err != nil {
				return err
			}
		}
		if !alive || w.window.tooLate(w.finder.held.time) {
			look, p.found = now, false // the document has gone
		}
	}
	if !p.timed && w.window.Age > 0 {
		look, p.found = now, false // the batch searched with another time
	}
	if p.found {
		return nil
	}
	w.record = spanned(b.bytes, p.record)
	w.query = b.query(p, w.set)
	w.keys = w.recent.since(w.keys[:0], look.First, w.query.keys)
	w.query.keys = w.keys
	p.slot, p.similarity, p.found, err = w.finder.oldest(grown, look, &w.query, w.stored)
	return err
}

// duplicate returns the verdict on a document for which a similar one was found, and refreshes that one.
func (w *writer) duplicate(b *Batch, p *prepared, late bool) (v Verdict, err error) {
	w.counts.duplicates.Add(1)
	v = Verdict{Slot: p.slot, Similarity: p.similarity, Late: late}
	r, err := w.describe(b, &v)
	if err == nil && w.window.Refresh && !late {
		err = w.refresh(p.slot, p.time, r)
	}
	return v, err
}

// read reads a document of the collection or of the current batch.
func (w *writer) read(slot uint64) (record, error) {
	if slot < w.shown.Next {
		return w.finder.read(w.shown)(slot)
	}
	return parseRecord(w.pending[slot-w.shown.Next].record)
}

// after returns the slots of a range that were added after a view was taken: all of them if there is none.
func (v *view) after(now keytable.Range) keytable.Range {
	if v == nil {
		return now
	}
	return keytable.Range{First: max(v.Next, now.First), Next: now.Next}
}

// refresh moves a document to the end of the window, with a new time.
func (w *writer) refresh(slot uint64, at int64, r record) error {
	a, err := w.finder.again(&w.growing, slot, r)
	if err != nil {
		return err
	}
	a.time = max(a.time, at)
	w.bury(slot, a.keys)
	if err := w.insert(a); err != nil {
		return err
	}
	w.counts.added.Add(-1)
	w.counts.refreshed.Add(1)
	return nil
}

// take makes the id of a document free for it: it names the document apart, or removes the one that has the id.
func (w *writer) take(b *Batch, a *arrival, made bool) error {
	if made {
		apart, err := w.nameApart(a)
		if err != nil {
			return err
		}
		if apart {
			b.apart++
		}
	}
	before := len(w.dead)
	err := w.replace(a.id)
	b.replaced += int64(len(w.dead) - before)
	return err
}

// holderOf returns the slot of the document with an id.
func (w *writer) holderOf(id []byte) (slot uint64, found bool, err error) {
	if slot, found = w.named[string(id)]; !found {
		slot, found, err = w.store.slotOf(id)
	}
	return slot, found && w.growing.living(slot), err
}

// replace removes the document with an id, if there is one.
func (w *writer) replace(id []byte) error {
	slot, found, err := w.holderOf(id)
	if err != nil || !found {
		return err
	}
	r, err := w.read(slot)
	if err != nil {
		return err
	}
	a, err := w.finder.again(&w.growing, slot, r)
	if err != nil {
		return err
	}
	w.bury(slot, a.keys)
	if err := w.promote(&a); err != nil {
		return err
	}
	w.dropped = append(w.dropped, a.id)
	delete(w.named, string(id))
	return nil
}

// promote is called when a document has gone: its first copy gets the keys by which it was found. See
// keysOf.
func (w *writer) promote(gone *arrival) error {
	if gone.ways == 0 {
		return nil
	}
	copies, err := w.finder.copies(w.grown(keytable.Range{First: w.growing.First, Next: w.next}), gone.keys[gone.ways-1], gone.digest)
	if len(copies) == 0 {
		return err
	}
	first := copies[0]
	for i, key := range gone.keys {
		if i != gone.ways-1 {
			w.unlink(key, first) // a copy that was added before it has them already
			w.recent.add(w.next, key)
			w.link(key, first)
		}
	}
	return err
}

// insert gives a document the next slot.
func (w *writer) insert(a arrival) error {
	slot := w.next
	w.growing = w.growing.extended(slot, w.store.inMemory())
	c := w.growing.chunk(slot)
	c.times[slot%chunkDocs], c.digests[slot%chunkDocs] = a.time, a.digest
	copy(c.signature(slot, w.judge.words), a.words)
	now := keytable.Range{First: w.growing.First, Next: slot}
	keys, err := w.keysOf(&a, now)
	if err != nil {
		return err
	}
	w.recent.add(slot, keys...)
	for _, key := range keys {
		if !w.growing.table.Insert(key, slot, now) {
			w.counts.full.Add(1)
		}
	}
	w.pending = append(w.pending, a)
	if w.options.ByID {
		w.named[string(a.id)] = slot
	}
	w.next++
	w.counts.added.Add(1)
	w.counts.live.Add(1)
	if now := w.window.clock.Load(); w.window.Age > 0 && w.window.due(w.marks, now) {
		w.marks = append(w.marks, mark{w.next, now})
	} else if last := len(w.marks) - 1; last >= 0 && w.marks[last].clock == now {
		w.marks[last].slot = w.next
	}
	return w.expire()
}

// keysOf returns the keys that a document gets in the table. Where nothing expires, a copy of an
// earlier document gets only the key of its digest, since searches find the earlier document and look
// up its copies by that: a million copies do not fill buckets that others need.
func (w *writer) keysOf(a *arrival, now keytable.Range) ([]uint64, error) {
	if a.ways == 0 || w.window.expires() {
		return a.keys, nil
	}
	copies, err := w.finder.copies(w.grown(now), a.keys[a.ways-1], a.digest)
	if len(copies) > 0 {
		return a.keys[a.ways-1 : a.ways], err
	}
	return a.keys, err
}

// bury removes a document, and its keys, from the collection.
func (w *writer) bury(slot uint64, keys []uint64) {
	if slot < w.growing.settled {
		w.growing.gone[slot] = true
	} else if !w.growing.chunk(slot).bury(slot) {
		return
	} else if slot < w.growing.frozen {
		w.late.dead = append(w.late.dead, slot)
	}
	for _, key := range keys {
		w.unlink(key, slot)
	}
	w.dead = append(w.dead, slot)
	w.counts.live.Add(-1)
}

// commit stores the changes of the batch and shows them to readers.
func (w *writer) commit() error {
	if b := w.cargo; b != nil && b.note != nil {
		name, value := b.note(w.shown.Next, w.next)
		w.notes = append(w.notes, noteOf{name, value})
	}
	w.newest, w.documents = w.window.clock.Load(), w.counts.live.Load()
	if err := w.store.apply(&w.changes); err != nil {
		return w.fail(err)
	}
	shown := w.growing
	w.changes.shown = nil // so that memory that only it holds is released
	w.seen, w.query, w.record = view{}, query{}, nil
	shown.Next, shown.gone = w.next, nil
	w.view.Store(&shown)
	if err := w.store.settle(false); err != nil {
		return w.fail(err)
	}
	return nil
}

// nameApart gives a document with a made id another one for as long as another document has it. It tells whether
// it did.
func (w *writer) nameApart(a *arrival) (renamed bool, err error) {
	mine, err := parseRecord(a.record)
	if err != nil {
		return false, err
	}
	for ; ; renamed = true {
		slot, found, err := w.holderOf(mine.id)
		if err != nil {
			return renamed, err
		}
		if found {
			its, err := w.read(slot)
			if err != nil {
				return renamed, err
			}
			if !its.same(&mine) {
				mine = mine.renamedApart()
				continue
			}
		}
		if renamed {
			a.id, a.record = mine.id, appendRecord(nil, mine)
			a.sum = durable.Checksum(0, a.record)
		}
		return renamed, nil
	}
}

// err is Err for a caller that has the lock.
func (w *writer) err() error {
	if err := w.store.err(); w.failed == nil && err != nil {
		return w.fail(err)
	}
	return w.failed
}

// fail makes the index read-only. The changes of the current batch are never shown.
func (w *writer) fail(err error) error {
	if w.failed == nil {
		w.counts.failed.Store(true)
		w.failed = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return w.failed
}

// hasRoom is an error if memory has no room for more documents. It is cheap as long as few documents have
// come since the last check.
func (w *writer) hasRoom() error {
	v := w.view.Load()
	if w.ceiling.memory == 0 || v.Next < w.asked+chunkDocs {
		return nil
	}
	held := v.table.Bytes() + v.slotBytes()
	err := w.ceiling.fits(v.Next-v.First, held, held, w.ceiling.beside)
	if err == nil {
		w.asked = v.Next
	}
	return err
}

// slotsAtOnce is how many documents expire with one batch in addition to as many as it
// brings, so that a pause of the stream does not make the index pause.
const slotsAtOnce = 1 << 14

// expire moves the start of the window. O(1) for each document that expires, and O(length) with ByID.
func (w *writer) expire() error {
	if !w.window.expires() {
		return nil
	}
	first := w.growing.First
	most := w.shown.First + slotsAtOnce + uint64(len(w.pending))
	step := func() error {
		if w.growing.living(first) {
			if err := w.forgetID(first); err != nil {
				return err
			}
			w.counts.live.Add(-1)
			w.counts.expired.Add(1)
		}
		first++
		return nil
	}
	for docs := int64(w.window.Docs); docs > 0 && w.counts.live.Load() > docs && first < most; {
		if err := step(); err != nil {
			return err
		}
	}
	for len(w.marks) > 0 && w.window.clock.Load()-w.marks[0].clock > w.window.stay() {
		for first < w.marks[0].slot && first < most {
			if err := step(); err != nil {
				return err
			}
		}
		if first < w.marks[0].slot {
			break
		}
		w.marks = w.marks[1:]
	}
	if first > w.growing.First {
		w.growing = w.growing.shortened(first)
	}
	return nil
}

// forgetID makes the id of a living document free that is about to expire.
func (w *writer) forgetID(slot uint64) error {
	if !w.options.ByID {
		return nil
	}
	r, err := w.read(slot)
	if err != nil {
		return err
	}
	w.dropped = append(w.dropped, bytes.Clone(r.id))
	delete(w.named, string(r.id))
	return nil
}
