package contam

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/alike-dev/alike/internal/extsort"
)

// Index holds the items with their grams. It is immutable and safe for concurrent use. It takes some 60 bytes for each
// word of the items.
type Index struct {
	Items []Item
	Short int // items of fewer words than a gram, which are not looked for

	keys    []uint64 // the grams, ascending
	starts  []uint32 // of each gram, its first place; one more at the end
	places  []place
	among   []uint32      // of each gram, the items that have it
	numbers arena[uint32] // Items' grams
	table   []uint64      // by the last bits of a gram's key, with linear probing: the first 32 bits, and its number + 1; 0: free
	filter  filter
}

// place is where a gram stands: at a word of an item.
type place struct{ item, word uint32 }

// NewIndex returns the index of rows of evaluation sets: of an Item, what is exported. It takes O(n log n) for n words.
func NewIndex(rows []Item) *Index {
	a := newAnalyst()
	items := merge(rows)
	for n := range items {
		a.complete(&items[n], items[n].Question, 0)
	}
	several := severally(items)
	x := build(a, items)
	var told []Item
	for n := range items {
		i := &items[n]
		if len(i.tokens) >= generic && !several[xxh3.Hash128(i.Question)] && x.tells(i) {
			told = append(told, *i)
			continue
		}
		told = a.specify(told, i)
	}
	x = build(a, told)
	x.tabulate()
	return x
}

// severally returns the digests of questions that several items ask: about different passages, or with no answer in
// common. Sets have items of each other, some without the passage: these are not several.
func severally(items []Item) map[xxh3.Uint128]bool {
	asked := map[xxh3.Uint128][]*Item{}
	for n := range items {
		key := xxh3.Hash128(items[n].Question)
		asked[key] = append(asked[key], &items[n])
	}
	several := map[xxh3.Uint128]bool{}
	for key, all := range asked {
		if len(all) > 1 && !agree(all) {
			several[key] = true
		}
	}
	return several
}

// agree tells whether items with one question may be one: each has an answer of those before it, if these have any, and all
// that have a passage have the same.
func agree(items []*Item) bool {
	answers, passage := map[uint64]bool{}, []byte(nil)
	for _, i := range items {
		common := len(answers) == 0 || len(i.answers) == 0
		for _, words := range i.answers {
			common = common || answers[sum(words)]
		}
		if len(passage) == 0 {
			passage = i.Passage
		}
		if !common || len(i.Passage) > 0 && !bytes.Equal(i.Passage, passage) {
			return false
		}
		for _, words := range i.answers {
			answers[sum(words)] = true
		}
	}
	return true
}

func sum(words []uint64) (h uint64) {
	for _, w := range words {
		h = (h ^ w) * 0x9e3779b97f4a7c15
	}
	return h
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

// build indexes items that are complete. Grams are found after tabulate.
func build(a *analyst, items []Item) *Index {
	x := &Index{}
	words := 0
	for n := range items {
		words += len(items[n].tokens)
	}
	entries := make([]extsort.Entry, 0, words) // of a gram: its key, and item<<32 | word
	s := newShingler()
	var features []uint64
	for _, i := range items {
		if len(i.tokens) < Gram || i.letters < leastLetters {
			x.Short++
			continue
		}
		features = s.AppendFeatures(features[:0], plain(&a.buf, i.text))
		i.grams = x.numbers.take(len(features))
		for w, key := range features {
			entries = append(entries, extsort.Entry{Key: key, Value: uint64(len(x.Items))<<32 | uint64(w)})
		}
		x.Items = append(x.Items, i)
	}
	extsort.Sort(entries)
	x.places = make([]place, len(entries))
	for n, e := range entries {
		p := place{uint32(e.Value >> 32), uint32(e.Value)}
		x.places[n] = p
		fresh := n == 0 || e.Key != entries[n-1].Key
		if fresh {
			x.keys = append(x.keys, e.Key)
			x.starts = append(x.starts, uint32(n))
			x.among = append(x.among, 0)
		}
		g := len(x.keys) - 1
		if fresh || p.item != x.places[n-1].item {
			x.among[g]++
		}
		x.Items[p.item].grams[p.word] = uint32(g)
	}
	x.starts = append(x.starts, uint32(len(entries)))
	return x
}

// asked is what rows that are one item have in common: digests of question and passage, and the set.
type asked struct {
	question, passage xxh3.Uint128
	set               string
}

// merge makes one item of the rows of a set that ask the same thing about the same passage.
func merge(rows []Item) []Item {
	var items []Item
	of := map[asked]int{}
	for _, r := range rows {
		key := asked{xxh3.Hash128(r.Question), xxh3.Hash128(r.Passage), r.Set}
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
	x.table = make([]uint64, size)
	x.filter = newFilter(x.keys)
	for g, key := range x.keys {
		at := key & uint64(size-1)
		for x.table[at] != 0 {
			at = (at + 1) & uint64(size-1)
		}
		x.table[at] = key>>32<<32 | uint64(g) + 1
	}
}

// leads returns the places to which a gram leads; none if it is common.
func (x *Index) leads(gram uint32) []place {
	places := x.places[x.starts[gram]:x.starts[gram+1]]
	if x.among[gram] > common || len(places) > 4*common {
		return nil
	}
	return places
}

// find returns the number of a gram. One in 2³² other grams is taken for it: the words decide.
func (x *Index) find(key uint64) (gram uint32, ok bool) {
	mask := uint64(len(x.table) - 1)
	for at := key & mask; ; at = (at + 1) & mask {
		switch e := x.table[at]; {
		case e == 0:
			return 0, false
		case e>>32 == key>>32:
			return uint32(e) - 1, true
		}
	}
}

// filter tells most keys that are not in the index by two sets of bits: a small one that stays in the cache of a core, by
// the first bits of a key, and for what passes it a larger one, by others.
type filter struct{ small, large bits1 }

// bits1 is a set of the hashes of keys.
type bits1 struct {
	words []uint64 // a power of two
	shift int
}

// smallBits is the size of the small set, 512 KiB; largeBits the least number of bits for a key of the large one.
const (
	smallBits = 22
	largeBits = 16
)

func newFilter(keys []uint64) filter {
	size := func(n int) bits1 { return bits1{make([]uint64, 1<<(n-6)), 64 - n + 6} }
	n := max(bits.Len(uint(len(keys)*largeBits)), 6)
	f := filter{size(min(n, smallBits)), size(n)}
	for _, key := range keys {
		f.small.add(key)
		f.large.add(other(key))
	}
	return f
}

// other mixes a key for the large set.
func other(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

func (b bits1) add(hash uint64) {
	b.words[hash>>(b.shift&63)&uint64(len(b.words)-1)] |= 1 << (hash & 63)
}

// has returns 1 if the set has a hash, otherwise 0.
func (b bits1) has(hash uint64) int {
	return int(b.words[hash>>(b.shift&63)&uint64(len(b.words)-1)] >> (hash & 63) & 1)
}

// pick appends the places of keys that may be in the index. It has no branches to predict, so that the processor waits for
// many words of the sets at once.
func (f filter) pick(dst []uint32, keys []uint64) []uint32 {
	dst = slices.Grow(dst[:0], len(keys)+1)[:len(keys)+1]
	n := 0
	for i, key := range keys {
		dst[n] = uint32(i)
		n += f.small.has(key)
	}
	picked := dst[:n]
	n = 0
	for _, i := range picked {
		dst[n] = i
		n += f.large.has(other(keys[i]))
	}
	return dst[:n]
}
