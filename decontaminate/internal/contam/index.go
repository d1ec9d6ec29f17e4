package contam

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// Index holds the items with their grams. It is immutable and safe for concurrent use. It takes some 60 bytes for each
// word of the items.
type Index struct {
	Items []Item
	Short int // items of fewer words than a gram, which are not looked for

	keys   []uint64 // the grams, ascending
	starts []uint32 // of each gram, its first place; one more at the end
	places []place
	among  []uint32 // of each gram, the items that have it
	table  []uint32 // gram + 1 by the last bits of its key, with linear probing; 0: free
	filter filter
}

// place is where a gram stands: at a word of an item.
type place struct{ item, word uint32 }

// NewIndex returns the index of rows of evaluation sets: of an Item, what is exported. It takes O(n log n) for n words.
func NewIndex(rows []Item) *Index {
	a := newAnalyst()
	asked := map[string]int{} // of a question, in how many items
	items := merge(rows)
	for n := range items {
		a.complete(&items[n], items[n].Question, 0)
		asked[string(items[n].Question)]++
	}
	x := build(a, items)
	var told []Item
	for n := range items {
		i := &items[n]
		if len(i.tokens) >= generic && asked[string(i.Question)] == 1 && x.tells(i) {
			told = append(told, *i)
			continue
		}
		told = a.specify(told, i)
	}
	return build(a, told)
}

// tells tells whether an item has a gram that few others have.
func (x *Index) tells(i *Item) bool {
	for _, g := range i.grams {
		if x.among[g] <= frequent {
			return true
		}
	}
	return len(i.grams) == 0
}

// specify appends the items to look for in place of one whose question does not tell: the question with its passage or,
// if there is none, with each of its answers. Answers that are shorter than a gram stay together.
func (a *analyst) specify(told []Item, i *Item) []Item {
	if len(i.Passage) > 0 {
		a.complete(i, fmt.Appendf(nil, "%s\n%s", i.Passage, i.Question), len(i.Passage)+1)
		return append(told, *i)
	}
	rest := *i
	rest.Rows = nil
	for n, answer := range i.Rows {
		if len(i.answers[n]) < Gram {
			rest.Rows = append(rest.Rows, answer)
			continue
		}
		one := *i
		one.Rows = i.Rows[n : n+1]
		a.complete(&one, fmt.Appendf(nil, "%s\n%s", i.Question, answer.Answer), 0)
		one.whole = true
		told = append(told, one)
	}
	if len(rest.Rows) > 0 || len(i.Rows) == 0 {
		a.complete(&rest, i.Question, 0)
		told = append(told, rest)
	}
	return told
}

// build indexes items that are complete.
func build(a *analyst, items []Item) *Index {
	x := &Index{}
	type entry struct {
		key uint64
		place
	}
	var entries []entry
	s := newShingler()
	var features []uint64
	for _, i := range items {
		if len(i.tokens) < Gram || i.letters < leastLetters {
			x.Short++
			continue
		}
		features = s.AppendFeatures(features[:0], plain(&a.buf, i.text))
		i.grams = make([]uint32, len(features))
		for w, key := range features {
			entries = append(entries, entry{key, place{uint32(len(x.Items)), uint32(w)}})
		}
		x.Items = append(x.Items, i)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.item, b.item), cmp.Compare(a.word, b.word))
	})
	for n, e := range entries {
		if n == 0 || e.key != entries[n-1].key {
			x.keys = append(x.keys, e.key)
			x.starts = append(x.starts, uint32(n))
			x.among = append(x.among, 0)
		}
		g := len(x.keys) - 1
		if n == 0 || e.key != entries[n-1].key || e.item != entries[n-1].item {
			x.among[g]++
		}
		x.places = append(x.places, e.place)
		x.Items[e.item].grams[e.word] = uint32(g)
	}
	x.starts = append(x.starts, uint32(len(entries)))
	x.tabulate()
	return x
}

// merge makes one item of the rows of a set that ask the same thing about the same passage.
func merge(rows []Item) []Item {
	var items []Item
	of := map[string]int{}
	for _, r := range rows {
		key := fmt.Sprintf("%q%q%s", r.Question, r.Passage, r.Set)
		at, known := of[key]
		if !known {
			of[key] = len(items)
			items = append(items, r)
			continue
		}
		items[at].Rows = append(items[at].Rows[:len(items[at].Rows):len(items[at].Rows)], r.Rows...)
	}
	return items
}

func (x *Index) tabulate() {
	size := 1 << bits.Len(uint(2*len(x.keys)))
	x.table = make([]uint32, size)
	x.filter = newFilter(len(x.keys))
	for g, key := range x.keys {
		x.filter.add(key)
		at := key & uint64(size-1)
		for x.table[at] != 0 {
			at = (at + 1) & uint64(size-1)
		}
		x.table[at] = uint32(g) + 1
	}
}

// find returns the number of a gram.
func (x *Index) find(key uint64) (gram uint32, ok bool) {
	mask := uint64(len(x.table) - 1)
	for at := key & mask; ; at = (at + 1) & mask {
		switch g := x.table[at]; {
		case g == 0:
			return 0, false
		case x.keys[g-1] == key:
			return g - 1, true
		}
	}
}

// Grams returns the number of different grams.
func (x *Index) Grams() int { return len(x.keys) }

// filter is a Bloom filter with two bits of one word for each key: one cache line tells that a key is not in the index.
type filter struct {
	words []uint64
	shift int
}

// filterBits is the least number of bits for a key.
const filterBits = 12

func newFilter(keys int) filter {
	n := max(bits.Len(uint(keys*filterBits/64)), 1)
	return filter{make([]uint64, 1<<n), 64 - n}
}

func (f filter) bits(key uint64) (at, mask uint64) {
	return key >> f.shift, 1<<(key&63) | 1<<(key>>6&63)
}

func (f filter) add(key uint64) {
	at, mask := f.bits(key)
	f.words[at] |= mask
}

func (f filter) has(key uint64) bool {
	at, mask := f.bits(key)
	return f.words[at]&mask == mask
}
