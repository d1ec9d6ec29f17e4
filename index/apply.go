package index

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/durable"
)

// apply writes a batch as a whole or not at all.
func (s *disk) apply(c *changes) error {
	s.slots = c.next
	err := s.ids.close()
	s.ids = nil
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	for i := range c.pending {
		slot := c.shown.Next + uint64(i)
		if c.isDead(slot) {
			continue
		}
		s.value = seal(append(s.value[:0], c.pending[i].record...), c.pending[i].sum, slot)
		if err := b.Set(slotKey(nil, keyRecord, slot), s.value, nil); err != nil {
			return err
		}
	}
	err = errors.Join(s.putBlocks(b, c), s.putDead(b, c), s.putIDs(b, c), s.putNotes(b, c), s.putPast(b, c), s.putSettled(b, c), s.putWindow(b, c.growing.First, c.next, c.newest), s.trim(b, c))
	if err != nil {
		return err
	}
	if s.readsChanges(c) {
		return s.commit(b)
	}
	_, err = s.enqueue(b)
	s.slow()
	return err
}

// readsChanges tells whether the store must have the current batch before it is shown, because readers will ask
// the store for more than its records: ids, notes, or documents that were settled and have now gone.
func (s *disk) readsChanges(c *changes) bool {
	return s.byID || len(c.notes) > 0 || len(c.keyed) > 0 ||
		slices.ContainsFunc(c.dead, func(slot uint64) bool { return slot < c.growing.settled })
}

func (s *disk) putBlocks(b *pebble.Batch, c *changes) error {
	return inChunks(c.pending, c.shown.Next, func(slot uint64, docs []arrival) error {
		block := appendBlock(s.value[:0], c.growing.words, docs, func(i int) bool { return c.isDead(slot + uint64(i)) })
		s.value = sealed(block, slot)
		return b.Set(slotKey(nil, keyBlock, slot), s.value, nil)
	})
}

func (s *disk) putDead(b *pebble.Batch, c *changes) error {
	for _, slot := range c.dead {
		if slot >= c.shown.Next {
			continue // its block says so
		}
		if err := buryStored(b, slot, slot < c.growing.settled); err != nil {
			return err
		}
	}
	return nil
}

// buryStored removes a document: a settled one loses its facts; another one is marked, since its block stays.
func buryStored(b *pebble.Batch, slot uint64, settled bool) error {
	err := b.Delete(slotKey(nil, keyRecord, slot), nil)
	if settled {
		return errors.Join(err, b.Delete(slotKey(nil, keyFacts, slot), nil))
	}
	return errors.Join(err, b.Set(slotKey(nil, keyDead, slot), sealed(nil, slot), nil))
}

func (s *disk) putIDs(b *pebble.Batch, c *changes) error {
	for _, id := range c.dropped {
		if err := b.Delete(append([]byte{keyID}, id...), nil); err != nil {
			return err
		}
	}
	if !s.byID {
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

func (s *disk) putNotes(b *pebble.Batch, c *changes) error {
	for _, n := range c.notes {
		value := seal(slices.Clone(n.value), durable.Checksum(durable.Checksum(0, []byte(n.name)), n.value), 0)
		if err := b.Set(append([]byte{keyNote}, n.name...), value, nil); err != nil {
			return err
		}
	}
	return nil
}

// putSettled stores the changes of a batch to settled documents.
func (s *disk) putSettled(b *pebble.Batch, c *changes) (err error) {
	if !s.onDisk {
		return nil
	}
	for _, k := range c.keyed {
		err = errors.Join(err, k.put(b))
	}
	return errors.Join(err, b.Set([]byte{keyTail}, tail(c.documents, c.growing.settled, s.trimmed), nil))
}

// tail returns the value of keyTail.
func tail(documents int64, settled, trimmed uint64) []byte {
	return sealed(appendNumbers(nil, []uint64{settled, trimmed, uint64(documents)}), 0)
}

func (s *disk) putWindow(b *pebble.Batch, first, next uint64, clock int64) error {
	return b.Set([]byte{keyWindow}, sealed(appendNumbers(nil, []uint64{first, next, uint64(clock)}), first), nil)
}

// trim removes expired documents, a chunk at a time. Readers of the current view may still read documents that
// expire with this batch.
func (s *disk) trim(b *pebble.Batch, c *changes) error {
	if s.onDisk {
		return nil // see settle
	}
	to := c.shown.First &^ (chunkDocs - 1)
	if to <= s.trimmed {
		return nil
	}
	from := s.trimmed
	s.trimmed = to
	var err error
	for _, kind := range []byte{keyRecord, keyBlock, keyDead} { // no block crosses the end of a chunk
		err = errors.Join(err, b.DeleteRange(slotKey(nil, kind, from), slotKey(nil, kind, to), nil))
	}
	return err
}
