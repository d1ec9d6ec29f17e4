package index

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/durable"
)

// apply writes a batch as a whole or not at all.
func (s *disk) apply(x *Index) error {
	s.slots = x.next
	err := s.ids.close()
	s.ids = nil
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	from := x.view.Load().Next
	for i := range x.pending {
		slot := from + uint64(i)
		if slot >= x.growing.First && x.growing.chunk(slot).isDead(slot) {
			continue
		}
		s.value = seal(append(s.value[:0], x.pending[i].record...), x.pending[i].sum, slot)
		if err := b.Set(slotKey(nil, keyRecord, slot), s.value, nil); err != nil {
			return err
		}
	}
	err = errors.Join(s.putBlocks(b, x, from), s.putDead(b, x, from), s.putIDs(b, x), s.putNotes(b, x), s.putPast(b, x), s.putSettled(b, x), s.putWindow(b, x.growing.First, x.next, x.clock.Load()), s.trim(b, x))
	if err != nil {
		return err
	}
	if x.readsChanges() {
		return s.commit(b)
	}
	_, err = s.enqueue(b)
	s.slow()
	return err
}

// readsChanges tells whether the store must have the current batch before it is shown, because readers will ask
// the store for more than its records: ids, notes, or documents that were settled and have now gone.
func (x *Index) readsChanges() bool {
	return x.options.ByID || len(x.notes) > 0 || len(x.keyed) > 0 ||
		slices.ContainsFunc(x.dead, func(slot uint64) bool { return slot < x.growing.settled })
}

func (s *disk) putBlocks(b *pebble.Batch, x *Index, from uint64) error {
	return inChunks(x.pending, from, func(slot uint64, docs []arrival) error {
		block := appendBlock(s.value[:0], x.judge.words, docs, func(i int) bool {
			at := slot + uint64(i)
			return at >= x.growing.First && x.growing.chunk(at).isDead(at)
		})
		s.value = sealed(block, slot)
		return b.Set(slotKey(nil, keyBlock, slot), s.value, nil)
	})
}

func (s *disk) putDead(b *pebble.Batch, x *Index, from uint64) error {
	for _, slot := range x.dead {
		if slot >= from {
			continue // its block says so
		}
		if err := buryStored(b, slot, slot < x.growing.settled); err != nil {
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

func (s *disk) putIDs(b *pebble.Batch, x *Index) error {
	for _, id := range x.dropped {
		if err := b.Delete(append([]byte{keyID}, id...), nil); err != nil {
			return err
		}
	}
	if !x.options.ByID {
		return nil
	}
	for i := range x.pending { // in order, so that equal batches have equal bytes
		id, slot := x.pending[i].id, x.view.Load().Next+uint64(i)
		if at, named := x.named[string(id)]; !named || at != slot {
			continue // a later document has the id, or it was removed again
		}
		if err := b.Set(append([]byte{keyID}, id...), appendSlotOf(nil, id, slot), nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *disk) putNotes(b *pebble.Batch, x *Index) error {
	for _, n := range x.notes {
		value := seal(slices.Clone(n.value), durable.Checksum(durable.Checksum(0, []byte(n.name)), n.value), 0)
		if err := b.Set(append([]byte{keyNote}, n.name...), value, nil); err != nil {
			return err
		}
	}
	return nil
}

// putSettled stores the changes of a batch to settled documents.
func (s *disk) putSettled(b *pebble.Batch, x *Index) (err error) {
	if !s.onDisk {
		return nil
	}
	for _, k := range x.keyed {
		err = errors.Join(err, k.put(b))
	}
	return errors.Join(err, b.Set([]byte{keyTail}, s.tail(x, x.growing.settled, s.trimmed), nil))
}

func (s *disk) tail(x *Index, settled, trimmed uint64) []byte {
	return sealed(appendNumbers(nil, []uint64{settled, trimmed, uint64(x.counts.live.Load())}), 0)
}

func (s *disk) putWindow(b *pebble.Batch, first, next uint64, clock int64) error {
	return b.Set([]byte{keyWindow}, sealed(appendNumbers(nil, []uint64{first, next, uint64(clock)}), first), nil)
}

// trim removes expired documents, a chunk at a time. Readers of the current view may still read documents that
// expire with this batch.
func (s *disk) trim(b *pebble.Batch, x *Index) error {
	if s.onDisk {
		return nil // see settle
	}
	to := x.view.Load().First &^ (chunkDocs - 1)
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
