package index

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// New returns an empty index in memory.
func New(o Options) (*Index, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Keys == KeysOnDisk {
		return nil, errors.New("index: one in memory has its keys there: leave keys on disk out, or make it in a folder")
	}
	c := newCollection(o.withDefaults())
	c.store = newMemoryStore(o.ByID)
	return newIndex(newWriter(c)), nil
}

// memoryStore stores records in the chunks.
type memoryStore struct {
	slots map[string]uint64 // with ByID
	mu    sync.Mutex
	notes map[string][]byte
}

func newMemoryStore(byID bool) *memoryStore {
	m := &memoryStore{notes: map[string][]byte{}}
	if byID {
		m.slots = map[string]uint64{}
	}
	return m
}

func (m *memoryStore) inMemory() bool { return true }

func (m *memoryStore) get(v *view, slot uint64, dst []byte) ([]byte, error) {
	value := v.chunk(slot).records[slot%chunkDocs]
	if value == nil {
		return dst, fmt.Errorf("slot %d: %w", slot, errGone)
	}
	return append(dst, value...), nil
}

func (m *memoryStore) slotOf(id []byte) (slot uint64, found bool, err error) {
	slot, found = m.slots[string(id)]
	return slot, found, nil
}

func (m *memoryStore) apply(c *changes) error {
	whole := c.adopts()
	for i := range c.pending {
		slot := c.shown.Next + uint64(i)
		if slot < c.growing.First {
			continue
		}
		at, record := c.growing.chunk(slot), c.pending[i].record
		if whole {
			at.adopt(slot, record)
			at.size.Add(int64(len(record)))
		} else {
			at.put(slot, record)
		}
	}
	for _, id := range c.dropped {
		delete(m.slots, string(id))
	}
	for id, slot := range c.named {
		m.slots[id] = slot
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range c.notes {
		m.notes[n.name] = slices.Clone(n.value)
	}
	return nil
}

func (m *memoryStore) note(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.notes[name]), nil
}

// adopts decides whether records stay in the memory of the batch, which saves a copy, and takes this memory from
// the batch. It does so if it is large enough and mostly used.
func (c *changes) adopts() bool {
	b, size := c.cargo, 0
	if b == nil || cap(b.bytes) > 2*len(b.bytes) || len(b.bytes) < blockSize/8 {
		return false
	}
	for i := range c.pending {
		if c.shown.Next+uint64(i) >= c.growing.First {
			size += len(c.pending[i].record)
		}
	}
	if size < cap(b.bytes)/4*3 {
		return false
	}
	b.given = true
	return true
}

func (m *memoryStore) sync() error { return nil }
func (m *memoryStore) err() error  { return nil }

func (m *memoryStore) close(bool) error { return nil }

func (m *memoryStore) keyBytes() int64 { return 0 }

func (m *memoryStore) settle(bool) error { return nil }

func (m *memoryStore) bytes(v *view) (n int64) {
	for _, c := range v.chunks {
		n += c.size.Load()
	}
	return n
}
