package pieces

import "slices"

// A Group finds the documents from which a piece goes: if at least Least have it, all but the first. D is how the caller
// names a document.
type Group[D any] struct {
	Least int                             // at least 2
	Wants func(key uint64, first D) error // is called for a piece that goes, before Goes; nil: nothing is
	Goes  func(key uint64, first, doc D) error

	key    uint64
	pieces []counted[D]
}

// counted is a piece of the key.
type counted[D any] struct {
	check uint32
	first D
	count int
	held  []D // documents behind the first, until there are enough
}

// Add adds a document that has a piece, each once. Keys ascend; those of one piece come in the order of the documents.
func (g *Group[D]) Add(h Hash, doc D) error {
	if h.Key != g.key {
		g.key, g.pieces = h.Key, g.pieces[:0]
	}
	i := slices.IndexFunc(g.pieces, func(p counted[D]) bool { return p.check == h.Check })
	if i < 0 {
		g.pieces = append(g.pieces, counted[D]{check: h.Check, first: doc, count: 1})
		return nil
	}
	p := &g.pieces[i]
	if p.count++; p.count < g.Least {
		p.held = append(p.held, doc)
		return nil
	}
	if p.count == g.Least {
		if g.Wants != nil {
			if err := g.Wants(g.key, p.first); err != nil {
				return err
			}
		}
		for _, doc := range p.held {
			if err := g.Goes(g.key, p.first, doc); err != nil {
				return err
			}
		}
		p.held = nil
	}
	return g.Goes(g.key, p.first, doc)
}
