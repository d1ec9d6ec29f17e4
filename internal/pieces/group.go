package pieces

import (
	"iter"
	"slices"
)

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

// A NearGroup finds the documents from which pieces go that count as equal, one group after the other: if at least Least
// documents have one of them, all but the first.
type NearGroup[D comparable] struct {
	Least int // at least 2
	Goes  func(key uint64, first, doc D) error

	first, last D // documents: the first, and the one that was counted last
	count       int
	held        []heldPiece[D] // behind the first document, until there are enough
}

type heldPiece[D any] struct {
	key uint64
	doc D
}

// Begin begins a group whose leader stands first in a document.
func (g *NearGroup[D]) Begin(first D) {
	g.first, g.last, g.count, g.held = first, first, 1, g.held[:0]
}

// Add adds a document with one of the group's pieces. Documents come in their order.
func (g *NearGroup[D]) Add(key uint64, doc D) error {
	if doc == g.first {
		return nil
	}
	if doc != g.last {
		g.last = doc
		g.count++
	}
	if g.count < g.Least {
		g.held = append(g.held, heldPiece[D]{key, doc})
		return nil
	}
	for _, before := range g.held {
		if err := g.Goes(before.key, g.first, before.doc); err != nil {
			return err
		}
	}
	g.held = g.held[:0]
	return g.Goes(key, g.first, doc)
}

// Firsts returns the first piece of a text with each of some keys, in order. It takes the keys.
func (c *Cutter) Firsts(text []byte, keys map[uint64]bool) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		for _, p := range c.Pieces(text) {
			if !keys[p.Key] {
				continue
			}
			if delete(keys, p.Key); !yield(p) {
				return
			}
		}
	}
}
