package serve

import "github.com/alike-dev/alike/index"

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

func (p *logPlace) batch(x *index.Index) *index.Batch {
	if p.applying == nil {
		p.applying = x.NewCheck()
	}
	return p.applying
}

func (p *logPlace) filter(f fields, written []byte) (func(columns [][]byte) bool, error) {
	if p.parser == nil {
		p.parser = newParser(f)
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
