package serve

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/durable"
)

// logPlace is what a collection has of its own in a log. It belongs to the goroutine that applies entries.
type logPlace struct {
	epoch   uint64 // entry that has made it as it is
	rule    int
	brought []brought

	applying *index.Batch
	parser   *parser
}

// brought says that the documents from a slot on came with an entry, or later.
type brought struct{ Slot, Entry uint64 }

// broughtEvery is how many slots there are between two of these.
const broughtEvery = 1024

func (p *logPlace) batch(c *collection) *index.Batch {
	if p.applying == nil {
		p.applying = c.index.NewCheck()
	}
	return p.applying
}

// filter reads a filter as it is written.
func (p *logPlace) filter(c *collection, written []byte) (func(columns [][]byte) bool, error) {
	if p.parser == nil {
		p.parser = newParser(c.settings.Fields)
	}
	v, err := p.parser.json.ParseBytes(written)
	if err != nil {
		return nil, err
	}
	return p.parser.filter(v)
}

// bring notes which entry brings the documents that come now.
func (p *logPlace) bring(x *index.Index, entry uint64) {
	next := x.Slots().Next
	if next >= p.brought[len(p.brought)-1].Slot+broughtEvery {
		p.brought = append(p.brought, brought{next, entry})
	}
}

// needs returns the first entry that has brought a document which is in the window.
func (p *logPlace) needs(x *index.Index) uint64 {
	first := x.Slots().First
	for len(p.brought) > 1 && p.brought[1].Slot <= first {
		p.brought = p.brought[1:]
	}
	return p.brought[0].Entry
}

// Needs implements ordered.Machine.
func (m *machine) Needs(applied uint64) uint64 {
	least := applied + 1
	for _, name := range m.store.names() {
		if c := m.store.get(name); c != nil {
			least = min(least, c.log.needs(c.index))
		}
	}
	return least
}

// machineState is what a snapshot has of a machine, before the checkpoints of its collections.
type machineState struct {
	Clock       int64
	Collections []collectionState
}

type collectionState struct {
	Name     string
	Settings json.RawMessage
	Epoch    uint64
	Rule     int
	Brought  []brought
}

// Save implements ordered.Machine.
func (m *machine) Save() (write func(to io.Writer) error, err error) {
	s := machineState{Clock: m.clock.Load()}
	var all []*index.Checkpoint
	for _, name := range m.store.names() {
		c := m.store.get(name)
		settings, err := json.Marshal(c.settings)
		if err != nil {
			return nil, err
		}
		checkpoint, err := c.index.Checkpoint()
		if err != nil {
			return nil, err
		}
		all = append(all, checkpoint)
		s.Collections = append(s.Collections, collectionState{name, settings, c.log.epoch, c.log.rule, c.log.brought})
	}
	body, err := json.Marshal(s)
	return func(to io.Writer) error {
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(body)))
		head = binary.LittleEndian.AppendUint32(append(head, body...), durable.Checksum(0, body))
		if _, err := to.Write(head); err != nil {
			return err
		}
		for _, c := range all {
			if err := c.Write(to); err != nil {
				return err
			}
		}
		return nil
	}, err
}

// Load implements ordered.Machine.
func (m *machine) Load(from *bufio.Reader) error {
	for _, name := range m.store.names() {
		if c := m.store.take(name); c != nil {
			go c.close()
		}
	}
	m.clock.Store(0)
	if from == nil {
		return nil
	}
	s, err := readMachine(from)
	if err != nil {
		return err
	}
	m.clock.Store(s.Clock)
	for i := range s.Collections {
		if err := m.loadCollection(&s.Collections[i], from); err != nil {
			return fmt.Errorf("collection %s: %w", s.Collections[i].Name, err)
		}
	}
	return nil
}

// mostMachine is the largest size of a machineState, in bytes.
const mostMachine = 1 << 30

func readMachine(from io.Reader) (s machineState, err error) {
	var size [8]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return s, err
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > mostMachine {
		return s, errMalformed
	}
	body, err := io.ReadAll(io.LimitReader(from, int64(n)+durable.ChecksumSize))
	if err != nil || uint64(len(body)) != n+durable.ChecksumSize {
		return s, io.ErrUnexpectedEOF
	}
	if binary.LittleEndian.Uint32(body[n:]) != durable.Checksum(0, body[:n]) {
		return s, errMalformed
	}
	return s, json.Unmarshal(body[:n], &s)
}

func (m *machine) loadCollection(s *collectionState, from *bufio.Reader) error {
	settings, err := parseSettings(s.Settings)
	if err != nil {
		return err
	}
	if s.Rule < 1 || s.Rule > len(m.rules) {
		return fmt.Errorf("%w: rule %d", errUnknownRule, s.Rule)
	}
	settings.rule = m.rules[s.Rule-1]
	o, err := settings.options(m.now)
	if err != nil {
		return err
	}
	x, err := index.LoadCheckpoint(o, from)
	if err != nil {
		return err
	}
	m.store.put(s.Name, settings, x, &logPlace{epoch: s.Epoch, rule: s.Rule, brought: s.Brought})
	return nil
}
