package index

import (
	"errors"

	"github.com/alike-dev/alike/index/internal/table"
	"github.com/alike-dev/alike/recipe"
)

// A Looker finds documents that are similar to a text, among the documents below a slot, whatever is added
// meanwhile. It owns scratch memory and belongs to one goroutine.
type Looker struct {
	x      *Index
	before uint64
	finder *finder
	keys   []uint64
	words  []uint32
	name   []byte
}

// NewLooker returns a Looker for the documents of slots below before. It sees their deletion.
func (x *Index) NewLooker(before uint64) *Looker {
	return &Looker{x: x, before: before, finder: newFinder(x)}
}

// Look finds the similar document with the smallest slot, as Check does. The text must be the last one that m made;
// m must have the recipe of the index, with signatures. The id is valid until the next call.
func (l *Looker) Look(m *recipe.Maker, made recipe.Made, text []byte) (id []byte, similarity float64, found bool, err error) {
	if made.Features == 0 {
		return nil, 0, false, nil
	}
	x, v := l.x, l.x.view.Load()
	l.keys = append(m.AppendKeys(l.keys[:0]), digestKey(made.Digest))
	l.words = x.judge.appendWords(l.words[:0], m.Signature())
	q := &query{keys: l.keys, digest: made.Digest, words: l.words, time: x.untimed(), set: l.finder.setOfText(m, text)}
	read := l.finder.read(v)
	r := table.Range{First: v.First, Next: min(v.Next, l.before)}
	slot, similarity, found, err := l.finder.oldest(v, r, q, read)
	if !found || err != nil {
		return nil, 0, false, err
	}
	kept, err := read(slot)
	if errors.Is(err, errGone) {
		return nil, 0, false, nil
	}
	l.name = append(l.name[:0], kept.id...)
	return l.name, similarity, err == nil, err
}

// Has tells whether a document of a slot below before has the id. It needs Options.ByID.
func (x *Index) Has(id []byte, before uint64) (bool, error) {
	if !x.options.ByID {
		return false, errNoIDs
	}
	x.write.Lock() // a batch that is not yet visible may have taken the id
	defer x.write.Unlock()
	slot, found, err := x.store.slotOf(id)
	return found && slot < before && x.view.Load().has(slot), err
}

// DeleteSlots removes the documents of slots from up to but not including to, and returns how
// many there were. It needs Options.ByID.
func (x *Index) DeleteSlots(from, to uint64) (n int, err error) {
	var ids [][]byte
	v, f := x.view.Load(), newFinder(x)
	for slot := max(from, v.First); slot < min(to, v.Next); slot++ {
		if !v.has(slot) {
			continue
		}
		r, err := f.read(v)(slot)
		if err != nil {
			return 0, err
		}
		ids = append(ids, append([]byte{}, r.id...))
	}
	return x.Delete(ids...)
}

// Note returns the note that a batch stored under a name, nil if there is none.
func (x *Index) Note(name string) ([]byte, error) { return x.store.note(name) }

// ID returns the id of the document of a slot. ok is false if there is none.
func (x *Index) ID(slot uint64) (id []byte, ok bool, err error) {
	v := x.view.Load()
	if !v.has(slot) {
		return nil, false, nil
	}
	r, err := newFinder(x).read(v)(slot)
	if errors.Is(err, errGone) {
		return nil, false, nil
	}
	return r.id, err == nil, err
}
