package index

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/durable"
)

// pastSlack is by how many hashes the history may exceed Options.History before old ones
// are removed.
const pastSlack = 1 << 17

// An applier turns the changes of a batch into a batch of Pebble. It belongs to the writer.
type applier struct {
	queue   *queue
	trimmed uint64                       // documents before it are removed
	slots   uint64                       // slots given out
	ids     *idLookup                    // nil: the current batch has not asked for one
	past    struct{ first, next uint64 } // places of the history
	byID    bool                         // Options.ByID
	history uint64                       // Options.History
	value   []byte
}

// apply writes a batch as a whole or not at all.
func (a *applier) apply(c *changes) error {
	a.slots = c.next
	err := a.ids.close()
	a.ids = nil
	if err != nil {
		return err
	}
	b := a.queue.engine.db.NewBatch()
	for i := range c.pending {
		slot := c.shown.Next + uint64(i)
		if c.isDead(slot) {
			continue
		}
		place := func(key, value []byte) error { return b.Set(key, value, nil) }
		if err := a.queue.engine.putRecord(c.pending[i].record, c.pending[i].sum, slot, a.putPiece, place); err != nil {
			return err
		}
	}
	err = errors.Join(a.putBlocks(b, c), a.putDead(b, c), a.putIDs(b, c), a.putNotes(b, c), a.putPast(b, c),
		a.putSettled(b, c), putWindow(b, c.growing.First, c.next, c.newest), a.trim(b, c))
	if err != nil {
		return err
	}
	if a.readsChanges(c) {
		return a.queue.commit(b)
	}
	_, err = a.queue.enqueue(b)
	a.queue.slow()
	return err
}

// readsChanges tells whether the store must have the current batch before it is shown, because readers will ask
// the store for more than its records: ids, notes, pieces, or documents that were settled and have now gone.
func (a *applier) readsChanges(c *changes) bool {
	return a.byID || a.queue.engine.anyLong(c.pending) || len(c.notes) > 0 || len(c.keyed) > 0 ||
		slices.ContainsFunc(c.dead, func(slot uint64) bool { return slot < c.growing.settled })
}

func (a *applier) putBlocks(b *pebble.Batch, c *changes) error {
	return inChunks(c.pending, c.shown.Next, func(slot uint64, docs []arrival) error {
		block := appendBlock(a.value[:0], c.growing.words, docs, func(i int) bool { return c.isDead(slot + uint64(i)) })
		a.value = sealed(block, slot)
		return b.Set(slotKey(nil, keyBlock, slot), a.value, nil)
	})
}

func (a *applier) putDead(b *pebble.Batch, c *changes) error {
	for _, slot := range c.dead {
		if slot >= c.shown.Next {
			continue // its block says so
		}
		if err := a.queue.engine.bury(b, slot, slot < c.growing.settled); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) putIDs(b *pebble.Batch, c *changes) error {
	for _, id := range c.dropped {
		if err := b.Delete(append([]byte{keyID}, id...), nil); err != nil {
			return err
		}
	}
	if !a.byID {
		return nil
	}
	for i := range c.pending { // in order, so that equal batches have equal bytes
		id, slot := c.pending[i].id, c.shown.Next+uint64(i)
		if at, named := c.named[string(id)]; !named || at != slot {
			continue // a later document has the id, or it was removed again
		}
		if err := b.Set(append([]byte{keyID}, id...), appendSlotOf(nil, id, slot), nil); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) putNotes(b *pebble.Batch, c *changes) error {
	for _, n := range c.notes {
		value := seal(slices.Clone(n.value), durable.Checksum(durable.Checksum(0, []byte(n.name)), n.value), 0)
		if err := b.Set(append([]byte{keyNote}, n.name...), value, nil); err != nil {
			return err
		}
	}
	return nil
}

// putSettled stores the changes of a batch to settled documents.
func (a *applier) putSettled(b *pebble.Batch, c *changes) (err error) {
	if !a.queue.engine.onDisk {
		return nil
	}
	for _, k := range c.keyed {
		err = errors.Join(err, putKey(b, k))
	}
	return errors.Join(err, b.Set([]byte{keyTail}, tail(c.documents, c.growing.settled, a.trimmed), nil))
}

// tail returns the value of keyTail.
func tail(documents int64, settled, trimmed uint64) []byte {
	return sealed(appendNumbers(nil, []uint64{settled, trimmed, uint64(documents)}), 0)
}

func putWindow(b *pebble.Batch, first, next uint64, clock int64) error {
	return b.Set([]byte{keyWindow}, sealed(appendNumbers(nil, []uint64{first, next, uint64(clock)}), first), nil)
}

// trim removes expired documents, a chunk at a time. Readers of the current view may still read documents that
// expire with this batch.
func (a *applier) trim(b *pebble.Batch, c *changes) error {
	if a.queue.engine.onDisk {
		return nil // see settle
	}
	to := c.shown.First &^ (chunkDocs - 1)
	if to <= a.trimmed {
		return nil
	}
	from := a.trimmed
	a.trimmed = to
	var err error
	for _, kind := range []byte{keyRecord, keyPiece, keyBlock, keyFilter, keyDead} { // no block crosses the end of a chunk
		err = errors.Join(err, b.DeleteRange(slotKey(nil, kind, from), slotKey(nil, kind, to), nil))
	}
	return err
}

// putPast stores the hashes that the batch remembers, and removes old ones.
func (a *applier) putPast(b *pebble.Batch, c *changes) error {
	if c.cargo == nil || len(c.cargo.past) == 0 || a.history == 0 {
		return nil
	}
	at := a.past.next
	if err := b.Set(slotKey(nil, keyPast, at), sealed(appendNumbers(nil, c.cargo.past), at), nil); err != nil {
		return err
	}
	a.past.next += uint64(len(c.cargo.past))
	if a.past.next-a.past.first < a.history+pastSlack {
		return nil
	}
	from := a.past.first
	a.past.first = a.past.next - a.history - mostPast
	return b.DeleteRange(slotKey(nil, keyPast, from), slotKey(nil, keyPast, a.past.first), nil)
}

// slotOf looks up an id for the writer, as it was before the current batch.
func (a *applier) slotOf(id []byte) (slot uint64, found bool, err error) {
	if a.ids == nil {
		if a.ids, err = a.queue.engine.newIDLookup(a.slots); err != nil {
			return 0, false, err
		}
	}
	return a.ids.slot(id)
}

// putPiece stores a piece in a batch of its own.
func (a *applier) putPiece(key, value []byte) error {
	b := a.queue.engine.db.NewBatch()
	if err := b.Set(key, value, nil); err != nil {
		return err
	}
	_, err := a.queue.enqueue(b)
	return err
}
