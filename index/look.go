package index

import (
	"errors"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/recipe"
)

// A Looker finds documents that are similar to a text, among the documents below a slot, whatever is added
// meanwhile. It owns scratch memory and belongs to one goroutine.
type Looker struct {
	x      *collection
	before uint64
	finder *finder
	keys   []uint64
	words  []uint32
	name   []byte
}

// NewLooker returns a Looker for the documents of slots below before. It sees their deletion.
func (x *Index) NewLooker(before uint64) *Looker {
	return &Looker{x: x.collection, before: before, finder: newFinder(x.collection)}
}

// Look finds the similar document with the smallest slot, as Check does. The text must be the last one that m made;
// m must have the recipe of the index, with signatures. within is the value of the document in the field of the recipe's
// Within. The id is valid until the next call.
func (l *Looker) Look(m *recipe.Maker, made recipe.Made, text, within []byte) (id []byte, similarity float64, found bool, err error) {
	if made.Features == 0 {
		return nil, 0, false, nil
	}
	x, v := l.x, l.x.view.Load()
	l.keys = append(m.AppendKeys(l.keys[:0]), digestKey(made.Digest))
	v.touch(l.keys)
	l.words = x.judge.appendWords(l.words[:0], m.Signature())
	q := &query{keys: l.keys, digest: made.Digest, words: l.words, time: x.window.untimed(), set: l.finder.setOfText(m, text)}
	q.accepts = x.accepting(value{bytes: within}, nil)
	read := l.finder.read(v)
	r := keytable.Range{First: v.First, Next: min(v.Next, l.before)}
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
