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
		return unknownRule(s.Rule, s.Name)
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
