package index

import (
	"bytes"

	"github.com/alike-dev/alike/index/internal/table"
)

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
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.err(); err != nil {
		return nil, err
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := x.hasRoom(); err != nil {
		return nil, err
	}
	x.begin(x.view.Load(), b)
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

// Add adds the documents of a batch of NewBatch, whether or not they are similar to others. With Options.ByID a
// document replaces one with the same id, but see Document.Made; Batch.Replaced and Batch.Apart then count.
// Check says when searches see them and when they survive a crash.
func (x *Index) Add(b *Batch) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.err(); err != nil {
		return err
	}
	if err := x.hasRoom(); err != nil {
		return err
	}
	x.begin(x.view.Load(), b)
	for i := range b.docs {
		p := &b.docs[i]
		x.tick(p)
		if x.tooLate(p.time) {
			x.counts.late.Add(1)
			continue
		}
		a := b.arrival(p)
		if x.options.ByID {
			if err := x.take(b, &a, p.made); err != nil {
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
	if err := x.err(); err != nil {
		return 0, err
	}
	x.begin(x.view.Load(), nil)
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

// decide decides about one document of a batch.
func (x *Index) decide(b *Batch, p *prepared) (Verdict, error) {
	x.counts.checked.Add(1)
	if err := x.findOriginal(b, p); err != nil {
		return Verdict{}, err
	}
	late := x.tooLate(p.time)
	switch {
	case p.found:
		return x.duplicate(b, p, late)
	case late:
		x.counts.late.Add(1)
		return Verdict{New: true, Late: true}, nil
	}
	v := Verdict{New: true, Slot: x.next}
	return v, x.insert(b.arrival(p))
}

// findOriginal completes the search that the batch has made in its view: the document that it has found may have
// gone since, and documents that were added since may be similar.
func (x *Index) findOriginal(b *Batch, p *prepared) (err error) {
	x.tick(p)
	now := table.Range{First: x.growing.First, Next: x.next}
	grown := x.growing
	grown.Range = now
	look := b.view.after(now)
	if p.found {
		alive := p.slot >= grown.First
		if alive {
			if alive, err = grown.facts(p.slot, &x.finder.held); err != nil {
				return err
			}
		}
		if !alive || x.tooLate(x.finder.held.time) {
			look, p.found = now, false // the document has gone
		}
	}
	if !p.timed && x.options.Window.Age > 0 {
		look, p.found = now, false // the batch searched with another time
	}
	if p.found {
		return nil
	}
	q := b.query(p, func() []uint64 { return x.finder.querySet(of(b.bytes, p.record)) })
	p.slot, p.similarity, p.found, err = x.finder.oldest(&grown, look, q, x.read)
	return err
}

// duplicate returns the verdict on a document for which a similar one was found, and refreshes that one.
func (x *Index) duplicate(b *Batch, p *prepared, late bool) (v Verdict, err error) {
	x.counts.duplicates.Add(1)
	v = Verdict{Slot: p.slot, Similarity: p.similarity, Late: late}
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
	if x.options.Window.Refresh && !late {
		err = x.refresh(p.slot, p.time, r)
	}
	return v, err
}

// read reads a document of the collection or of the current batch.
func (x *Index) read(slot uint64) (record, error) {
	if slot < x.shown.Next {
		return x.finder.read(x.shown)(slot)
	}
	return parseRecord(x.pending[slot-x.shown.Next].record)
}

// tick sets the time of a document that has none, and advances the clock to its time.
func (x *Index) tick(p *prepared) {
	if !p.timed {
		p.time = x.untimed()
	}
	to := p.time
	if now := x.options.Window.Now; now != nil {
		to = min(to, now().Add(x.options.Window.Late).UnixNano())
	}
	if to > x.clock.Load() {
		x.clock.Store(to)
	}
}

// after returns the slots of a range that were added after a view was taken.
func (v *view) after(now table.Range) table.Range {
	return table.Range{First: max(v.Next, now.First), Next: now.Next}
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

// take makes the id of a document free for it: it names the document apart, or removes the one that has the id.
func (x *Index) take(b *Batch, a *arrival, made bool) error {
	if made {
		apart, err := x.nameApart(a)
		if err != nil {
			return err
		}
		if apart {
			b.apart++
		}
	}
	before := len(x.dead)
	err := x.replace(a.id)
	b.replaced += int64(len(x.dead) - before)
	return err
}

// holderOf returns the slot of the document with an id.
func (x *Index) holderOf(id []byte) (slot uint64, found bool, err error) {
	if slot, found = x.named[string(id)]; !found {
		slot, found, err = x.store.slotOf(id)
	}
	return slot, found && x.growing.living(slot), err
}

// replace removes the document with an id, if there is one.
func (x *Index) replace(id []byte) error {
	slot, found, err := x.holderOf(id)
	if err != nil || !found {
		return err
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

// bury removes a document, and its keys, from the collection.
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

// commit stores the changes of the batch and shows them to readers.
func (x *Index) commit() error {
	if b := x.batch; b != nil && b.note != nil {
		name, value := b.note(x.shown.Next, x.next)
		x.notes = append(x.notes, noteOf{name, value})
	}
	x.newest, x.documents = x.clock.Load(), x.counts.live.Load()
	if err := x.store.apply(&x.changes); err != nil {
		return x.fail(err)
	}
	shown := x.growing
	x.changes.shown = nil // so that memory that only it holds is released
	shown.Next, shown.gone = x.next, nil
	x.view.Store(&shown)
	if err := x.store.settle(x, false); err != nil {
		return x.fail(err)
	}
	return nil
}
