package index

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// pastSlack is by how many hashes the history may exceed Options.History before old ones
// are removed.
const pastSlack = 1 << 17

// putPast stores the hashes that the batch remembers, and removes old ones.
func (s *disk) putPast(b *pebble.Batch, c *changes) error {
	if c.batch == nil || len(c.batch.past) == 0 || s.history == 0 {
		return nil
	}
	at := s.past.next
	if err := b.Set(slotKey(nil, keyPast, at), sealed(appendNumbers(nil, c.batch.past), at), nil); err != nil {
		return err
	}
	s.past.next += uint64(len(c.batch.past))
	if s.past.next-s.past.first < s.history+pastSlack {
		return nil
	}
	from := s.past.first
	s.past.first = s.past.next - s.history - mostPast
	return b.DeleteRange(slotKey(nil, keyPast, from), slotKey(nil, keyPast, s.past.first), nil)
}

// loadPast finds where the history begins and ends.
func (s *disk) loadPast() error {
	it, err := s.ofKind(keyPast)
	if err != nil {
		return asDamage(err)
	}
	if it.First() {
		s.past.first, err = parseSlotKey(it.Key())
	}
	if err == nil && it.Last() {
		var value []byte
		if s.past.next, err = parseSlotKey(it.Key()); err == nil {
			if value, err = it.ValueAndErr(); err == nil {
				s.past.next += uint64(len(value) / 8)
			}
		}
	}
	if err = errors.Join(err, it.Close()); err != nil {
		return fmt.Errorf("index: history: %w", asDamage(err))
	}
	return nil
}

// History calls visit for the hashes that batches have remembered, in order and in several pieces: the last
// Options.History of them or more. If visit returns an error, History returns it. An index in memory has no history.
func (x *Index) History(visit func(hashes []uint64) error) error {
	s, ok := x.store.(*disk)
	if !ok {
		return nil
	}
	if _, err := s.drain(); err != nil {
		return err
	}
	var hashes []uint64
	return s.each(keyPast, 0, ^uint64(0), func(at uint64, value []byte) error {
		body, err := unseal(value, at)
		if err != nil {
			return fmt.Errorf("history at %d: %w", at, err)
		}
		hashes = numbers(hashes[:0], body)
		return visit(hashes)
	})
}
