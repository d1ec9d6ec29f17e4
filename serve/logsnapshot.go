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
