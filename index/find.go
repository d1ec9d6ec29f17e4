package index

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// A finder finds documents that are similar to a query. It owns scratch memory and belongs to one goroutine.
type finder struct {
	x     *collection
	sets  *recipe.SetMaker // nil: recipes without sets
	slots []uint64
	keys  []uint64 // of containment, of a query
	held  facts
	other []uint64 // set of a document
	mine  []uint64 // of the query
	text  []uint64 // see setOfText
	value []byte
	maker *recipe.Maker // nil: not needed yet
}

func newFinder(x *collection) *finder {
	f := &finder{x: x}
	if _, features := x.options.Recipe.Features(); features {
		f.sets = x.options.Recipe.NewSetMaker()
	}
	return f
}

// query is a text that is ready to be searched for.
type query struct {
	keys   []uint64
	digest [2]uint64
	words  []uint32 // as memory holds them for documents
	time   int64
	set    func() []uint64 // ascending; called when a candidate needs it
	made   []uint64        // the result of set
	// accepts is Document.Accepts; nil: all
	accepts func(columns [][]byte) bool
	within  recipe.Within
}

// features returns the set of the query, which is made only once.
func (q *query) features() []uint64 {
	if q.made == nil {
		q.made = q.set()
	}
	return q.made
}

// oldest returns the similar document with the smallest slot in the range. The view must have all slots of the
// range. record reads the stored record of a document.
func (f *finder) oldest(v *view, r keytable.Range, q *query, record func(slot uint64) (record, error)) (slot uint64, similarity float64, found bool, err error) {
	if len(q.keys) == 0 || r.First >= r.Next {
		return 0, 0, false, nil
	}
	x := f.x
	slots, err := f.candidates(v, r, q.keys, x.options.Recipe.MinKeys(), func(held *facts) bool {
		return x.window.inTime(q.time, held.time) && !x.window.tooLate(held.time) && f.near(held, q, x.apart)
	})
	if err != nil {
		return 0, 0, false, err
	}
	for _, slot := range slots {
		wanted, err := accepted(q.accepts, slot, record)
		if err != nil {
			return 0, 0, false, err
		}
		if !wanted {
			continue
		}
		similarity, found, err = f.compare(v, slot, q, record)
		if found || err != nil && !errors.Is(err, errGone) {
			return slot, similarity, found, err
		}
	}
	return 0, 0, false, nil
}

// accepted tells whether the columns of a document are accepted; those of one that is gone are not.
func accepted(accepts func([][]byte) bool, slot uint64, read func(slot uint64) (record, error)) (bool, error) {
	if accepts == nil {
		return true, nil
	}
	r, err := read(slot)
	if err != nil {
		if errors.Is(err, errGone) {
			err = nil
		}
		return false, err
	}
	columns, err := parseColumns(r.columns)
	return err == nil && accepts(columns), err
}

// candidates returns the slots of a range, ascending, that share with the query as many keys
// as the recipe asks for (votes) and whose sketch is admitted. The result is valid until the
// next call.
func (f *finder) candidates(v *view, r keytable.Range, keys []uint64, votes int, admits func(held *facts) bool) (slots []uint64, err error) {
	f.slots = f.slots[:0]
	buckets := buckets{view: v, most: f.x.options.BucketCap, keys: keys}
	defer func() { err = errors.Join(err, buckets.close()) }()
	late := votes > 1 || r.First < v.settled // documents that are not admitted count towards votes; facts on disk are read once
	for _, key := range keys {
		from := len(f.slots)
		if f.slots, err = buckets.append(f.slots, key, r); err != nil {
			return nil, err
		}
		if len(f.slots)-from >= f.x.options.BucketCap {
			slices.Sort(f.slots[from:])
			f.slots = f.slots[:min(from+lsh.Hubs, len(f.slots))] // a bucket may have fewer than lsh.Hubs
		}
		if late {
			continue
		}
		if f.slots, err = f.admitted(from, v, admits); err != nil {
			return nil, err
		}
	}
	if len(f.slots) < 2 && !late {
		return f.slots, nil
	}
	f.slots = voted(f.slots, votes)
	if late {
		f.slots, err = f.admitted(0, v, admits)
	}
	return f.slots, err
}

// voted returns the slots that occur at least votes times, ascending, in the same memory.
func voted(slots []uint64, votes int) []uint64 {
	slices.Sort(slots)
	kept := slots[:0]
	for i := 0; i < len(slots); {
		j := i
		for j < len(slots) && slots[j] == slots[i] {
			j++
		}
		if j-i >= votes {
			kept = append(kept, slots[i])
		}
		i = j
	}
	return kept
}

// admitted removes, from the given position on, slots that are dead or not admitted.
func (f *finder) admitted(from int, v *view, admits func(held *facts) bool) ([]uint64, error) {
	kept := f.slots[:from]
	for _, slot := range f.slots[from:] {
		alive, err := v.facts(slot, &f.held)
		if err != nil {
			return nil, err
		}
		if alive && admits(&f.held) {
			kept = append(kept, slot)
		}
	}
	return kept, nil
}

// near tells, by the sketches, whether a document and a query can be similar.
func (f *finder) near(held *facts, q *query, most int) bool {
	return !f.x.judge.bySets || differingParts(q.words, held.words) <= most
}

// compare decides about one document.
func (f *finder) compare(v *view, slot uint64, q *query, read func(slot uint64) (record, error)) (similarity float64, alike bool, err error) {
	held, j := &f.held, &f.x.judge
	if alive, err := v.facts(slot, held); err != nil || !alive {
		return 0, false, cmp.Or(err, errGone)
	}
	switch {
	case held.digest == q.digest:
		return 1, true, nil
	case !j.bySets:
		similarity, alike = j.comparer.Signatures(q.words, held.words)
		return similarity, alike, nil
	}
	r, err := read(slot)
	if err != nil {
		return 0, false, err
	}
	similarity, alike = j.comparer.Sets(q.features(), f.setOf(r))
	return similarity, alike, nil
}

// setOf returns the set of a document. It is valid until the next call.
func (f *finder) setOf(r record) []uint64 {
	if r.kind == bodyText {
		f.other = f.sets.AppendSet(f.other[:0], r.body)
	} else {
		f.other = numbers(f.other[:0], r.body[keysSize(r.body):])
	}
	return f.other
}

// setOfText returns a function that returns the set of a text, which must be the last one that m made. A long text's
// set is made when the function is first called; it is valid until setOfText's next result is called.
func (f *finder) setOfText(m *recipe.Maker, text []byte) func() []uint64 {
	if len(text) <= recipe.LongText || f.sets == nil {
		return m.Set
	}
	made := false
	return func() []uint64 {
		if !made {
			f.text, made = f.sets.AppendSet(f.text[:0], text), true
		}
		return f.text
	}
}

// querySet returns the set of the text that this record stores. It is valid until the next
// call of querySet.
func (f *finder) querySet(value []byte) []uint64 {
	r, err := parseRecord(value)
	if err != nil {
		panic("index: a record that was just made cannot be read: " + err.Error())
	}
	f.other, f.mine = f.mine, f.other
	defer func() { f.other, f.mine = f.mine, f.other }()
	return f.setOf(r)
}

// read reads a document of a view from the store.
func (f *finder) read(v *view) func(slot uint64) (record, error) {
	return func(slot uint64) (r record, err error) {
		if f.value, err = f.x.store.get(v, slot, f.value[:0]); err != nil {
			return r, err
		}
		return parseRecord(f.value)
	}
}

// copies returns the documents of a view that have this digest, ascending.
func (f *finder) copies(v *view, key uint64, digest [2]uint64) ([]uint64, error) {
	return f.candidates(v, v.Range, []uint64{key}, 1, func(held *facts) bool { return held.digest == digest })
}

// again makes the arrival of a stored document again, from its record.
func (f *finder) again(v *view, slot uint64, r record) (a arrival, err error) {
	held := &f.held
	if _, err := v.facts(slot, held); err != nil {
		return a, err
	}
	a = arrival{
		digest: held.digest, time: held.time, words: slices.Clone(held.words),
		record: appendRecord(nil, r), id: bytes.Clone(r.id),
	}
	a.sum = durable.Checksum(0, a.record)
	a.keys = f.keysOf(r)
	if len(a.keys) > 0 {
		a.ways = f.x.options.Recipe.Keys() + 1
	}
	return a, nil
}

// keysOf returns the keys that the document of a record was given.
func (f *finder) keysOf(r record) (keys []uint64) {
	if r.kind != bodyText {
		return numbers(nil, r.body[8:keysSize(r.body)])
	}
	if f.maker == nil {
		f.maker = f.x.options.Recipe.NewMaker(recipe.MakerOptions{})
	}
	v, _ := f.x.valueIn(r) // its checksum is right
	f.maker.Within(v.Within)
	made := f.maker.Make(r.body)
	if made.Features == 0 {
		return nil
	}
	keys = append(f.maker.AppendKeys(nil), digestKey(made.Digest))
	if f.x.options.Containment > 0 {
		keys = appendScaled(keys, f.x.scaled, f.setOf(r), v.Within)
	}
	return keys
}

// digestKey returns the key that only equal documents share.
func digestKey(digest [2]uint64) uint64 { return hashing.Mix(digest[0] ^ hashing.Key3 ^ digest[1]<<32) }

// appendScaled appends the keys of containment of a set of a document with a value.
func appendScaled(dst []uint64, scheme minhash.Scaled, set []uint64, within recipe.Within) []uint64 {
	n := len(dst)
	dst = scheme.AppendSketch(dst, set)
	for i := n; i < len(dst); i++ {
		dst[i] = within.Key(hashing.Mix(dst[i])) // hashes below a bound have equal top bits
	}
	return dst
}
