package index

import (
	"cmp"
	"errors"
	"iter"
	"slices"

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
	q.accepts = x.accepting(fieldValue{bytes: within}, nil)
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

// mostCompared is up to how many documents Nearest compares all of them.
const mostCompared = 1000

// Nearest returns the document of a slot below before that is the most similar to a text by what the recipe compares,
// however little that is; of equally similar ones the earliest. Of more than mostCompared documents it compares those
// that share a key with the text, and all is false. found is false if there is none, or none with anything in common.
// accepts may be nil. Cost: O(length) for each document that is compared.
func (s *Searcher) Nearest(query []byte, before uint64, accepts func(columns [][]byte) bool) (m Match, all, found bool, err error) {
	x, v := s.x, s.x.view.Load()
	r := keytable.Range{First: v.First, Next: min(v.Next, before)}
	all = r.Next <= r.First || r.Next-r.First <= mostCompared
	if _, err := x.valueAsked(nil); err != nil {
		return m, all, false, err
	}
	made := s.maker.Make(query)
	if made.Features == 0 || r.First >= r.Next {
		return m, all, false, nil
	}
	q := s.query(query, made)
	slots := iter.Seq[uint64](func(yield func(uint64) bool) {
		for slot := range v.slots {
			if slot >= r.Next || !yield(slot) {
				return
			}
		}
	})
	if !all {
		v.touch(q.keys)
		some, err := s.finder.candidates(v, r, q.keys, 1, func(*facts) bool { return true })
		if err != nil {
			return m, all, false, err
		}
		slots = slices.Values(some)
	}
	rating, read := x.options.Recipe.NewComparer(true), s.finder.read(v)
	for slot := range slots {
		similarity, err := s.rate(v, slot, q, rating, read)
		if err == nil && similarity > m.Similarity {
			var wanted bool
			if wanted, err = accepted(accepts, slot, read); wanted {
				m, found = Match{Slot: slot, Similarity: similarity}, true
			}
		}
		if err != nil && !errors.Is(err, errGone) {
			return m, all, false, err
		}
	}
	if !found {
		return m, all, false, nil
	}
	described, err := s.described(v, query, []Match{m}, SearchOptions{})
	if err != nil || len(described) == 0 {
		return m, all, false, err
	}
	return described[0], all, true, nil
}

// rate returns the similarity of a document.
func (s *Searcher) rate(v *view, slot uint64, q *query, by *recipe.Comparer, read func(uint64) (record, error)) (float64, error) {
	if !s.x.judge.bySets {
		if alive, err := v.facts(slot, &s.finder.held); err != nil || !alive {
			return 0, cmp.Or(err, errGone)
		}
		similarity, _ := by.Signatures(q.words, s.finder.held.words)
		return similarity, nil
	}
	r, err := read(slot)
	if err != nil {
		return 0, err
	}
	similarity, _ := by.Sets(q.features(), s.finder.setOf(r))
	return similarity, nil
}
