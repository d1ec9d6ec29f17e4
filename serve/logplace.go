package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/durable"
)

// broughtEvery is how many slots there are between two of these.
const broughtEvery = 1024

func (p *logPlace) batch(c *collection) *index.Batch {
	if p.applying == nil {
		p.applying = c.index.NewCheck()
	}
	return p.applying
}

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

var errMalformed = errors.New("an operation in the log cannot be read")
