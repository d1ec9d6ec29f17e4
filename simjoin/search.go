package simjoin

import (
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// SearchIndex is an Index that can also be searched with sets that are not in it. Use it to join two collections, or
// one collection that is indexed part by part because its sets do not fit in memory at once. It needs more memory than
// an Index, and its own Pairs reads longer lists.
type SearchIndex struct {
	Index
	tokens directory
}

// NewSearchIndex builds the index of sets as NewIndex does. There must be fewer than
// 2³¹ sets and fewer than 2³¹−1 tokens that sets share.
//
// Memory: that of an Index, with postings for about (1−t) instead of (1−t)/(1+t) of the tokens at a Jaccard threshold
// t, for all of them at a containment threshold, and 18 bytes for every distinct token, also for those in one group
// only. See SearchIndexBytes for the peak while it is built.
func NewSearchIndex(sets [][]uint64, t measure.Threshold) *SearchIndex {
	x := &SearchIndex{Index: *newIndex(t)}
	first, group := x.group(sets)
	holders, count := x.tokens.fill(sets, first, group)
	x.tokens.rank(x.arrange(holders, count))
	x.post(x.filter.Prefix)
	return x
}

// SearchIndexBytes returns an upper estimate of the peak memory of NewSearchIndex for the given numbers of sets and of
// tokens, repeats included, at any threshold: 32 bytes a token, 112 a set and a little more. It does not count the sets
// themselves, nor the garbage, which is small if the collector has a memory limit.
func SearchIndexBytes(sets, tokens int) int64 { return 4<<20 + 112*int64(sets) + 32*int64(tokens) }

// Search returns the groups whose sets reach the threshold with the given set, in at least one direction if the measure
// is directed, in a fixed order. The set need not be in the index. If an equal set is there, its group is among the
// results. The slice belongs to p and is valid until p's next use. It does not allocate once p is warm.
//
// Search looks up every token of the set, in memory that is larger than caches, and then costs as much as Matches. If
// the index knows too few of the tokens, a part of them is enough: 1−t of all at Jaccard threshold t if it knows none.
// A set that no group of the index can reach by size costs nothing.
func (x *SearchIndex) Search(p *Prober, set []uint64) []GroupMatch {
	p.matches = p.matches[:0]
	size := uint64(len(set))
	from, to := x.groupsBelow(x.filter.MinSize(size)), x.groupsBelow(min(x.filter.MaxSize(size), math.MaxUint32-1)+1)
	long, short := x.filter.Prefix(size), x.filter.IndexPrefix(size)
	if from >= to || long == 0 || !p.look(x, set, int(long)-1) {
		return p.matches
	}
	p.prepare(&x.Index)
	p.size = uint32(size)
	b := bitmapOf(set)
	// The shorter prefix also finds groups that are not smaller. A second walk pays if that prefix is much shorter, as it
	// is for containment and never for Jaccard.
	if middle := x.groupsBelow(size); 2*short < long && middle < to {
		x.walk(p, len(set), int(short), b, max(from, middle), to)
		to = middle
	}
	x.walk(p, len(set), int(long), b, from, to)
	return p.matches
}

// walk finds the matches among the groups from … to−1, with a prefix of a set that has been looked up.
func (x *SearchIndex) walk(p *Prober, size, prefix int, b bitmap, from, to int) {
	if from >= to {
		return
	}
	// In token order the tokens that the index does not know come first, then those that one group holds alone; all of
	// these are part of the prefixes.
	unknown := size - len(p.owners) - len(p.ranks)
	prefix = min(max(prefix-unknown-len(p.owners), 0), len(p.ranks))
	left := uint32(len(p.owners) + len(p.ranks))
	for _, g := range p.owners {
		left--
		if int(g) >= from && int(g) < to {
			p.see(g, left, p.class(x.sizeOf[g]).need)
		}
	}
	x.count(p, p.ranks[:prefix], len(p.ranks), b, from, to)
	x.finish(p, p.ranks, prefix)
}

// lookBatch is how many tokens one batch looks up.
const lookBatch = 16

// look looks up the tokens of a set and fills p.owners and p.ranks, ascending. It gives up when the index does not know
// more than spare of them.
//
// A loop of its own reads the first slots of a batch of tokens, so that the processor waits for all of them together
// and not for one after the other. That takes a third off a search in an index that is larger than caches
// (BenchmarkSearch, MostlyUnique).
func (p *Prober) look(x *SearchIndex, set []uint64, spare int) bool {
	p.owners, p.ranks = p.owners[:0], p.ranks[:0]
	var mixed [lookBatch]uint64
	var at [lookBatch]directoryPlace
	for len(set) > 0 {
		n := min(len(set), lookBatch)
		for i, token := range set[:n] {
			mixed[i] = hashing.Mix(token)
			at[i] = x.tokens.first(mixed[i])
		}
		set = set[n:]
		for i := range n {
			switch e := at[i].find(mixed[i]); {
			case e == unknownToken:
				if spare--; spare < 0 {
					return false
				}
			case e&aloneBit != 0:
				p.owners = append(p.owners, e&^aloneBit)
			default:
				p.ranks = append(p.ranks, e-1)
			}
		}
	}
	slices.Sort(p.owners)
	slices.Sort(p.ranks)
	return true
}

// directory says what the index knows about a mixed token: the group that holds the token alone, with aloneBit; or its
// rank plus one; or unknownToken. It is cut by the tokens' top bits into the parts in which they were counted. Each
// part is a table with at most two of three slots in use: at least 18 bytes a token. A lookup that finds nothing reads
// a few slots, mostly of one or two cache lines.
type directory struct {
	width int // bits that choose the part
	parts [][]directorySlot
}

// directorySlot holds a token in two halves, so that it takes 12 bytes and not 16.
type directorySlot struct{ low, high, entry uint32 }

const (
	unknownToken = 0
	aloneBit     = 1 << 31
)

// fill inserts all tokens of the groups, shared ones by number instead of rank, and returns the results of shared.
func (d *directory) fill(sets [][]uint64, first, group []uint32) (holders, count []uint32) {
	how := cutFor(tokensOf(sets, first))
	d.width = how.width
	d.parts = make([][]directorySlot, 1<<d.width)
	var c counter
	var entries []uint32 // by number in the part
	holders = listParts(sets, first, group, how, func(part int, tokens []uint64, groups, dst []uint32) int {
		c.take(tokens, groups)
		next := uint32(len(c.shared))
		kept := c.list(dst)
		entries = slices.Grow(entries[:0], len(c.place))[:len(c.place)]
		for i, number := range c.number {
			entries[number] = c.groups[i] | aloneBit
		}
		for number, at := range c.place {
			if at != none {
				next++
				entries[number] = next
			}
		}
		d.parts[part] = make([]directorySlot, len(entries)+len(entries)/2+1)
		for _, s := range c.table.slots {
			if s.number != 0 {
				insert(d.parts[part], s.token, entries[s.number-1])
			}
		}
		return kept
	})
	return holders, c.shared
}

// rank replaces the numbers of shared tokens by their ranks. order lists the numbers by rank.
func (d *directory) rank(order []uint32) {
	rankOf := make([]uint32, len(order))
	for rank, number := range order {
		rankOf[number] = uint32(rank)
	}
	for _, slots := range d.parts {
		for i, s := range slots {
			if s.entry != unknownToken && s.entry&aloneBit == 0 {
				slots[i].entry = rankOf[s.entry-1] + 1
			}
		}
	}
}

// firstSlot is the slot where the search for a mixed token starts.
func firstSlot(slots []directorySlot, token uint64) int {
	at, _ := bits.Mul64(token*spread, uint64(len(slots)))
	return int(at)
}

func insert(slots []directorySlot, token uint64, entry uint32) {
	at := firstSlot(slots, token)
	for slots[at].entry != unknownToken {
		if at++; at == len(slots) {
			at = 0
		}
	}
	slots[at] = directorySlot{uint32(token), uint32(token >> 32), entry}
}

// directoryPlace is a place in a part and the slot there.
type directoryPlace struct {
	slots []directorySlot
	at    int
	slot  directorySlot
}

// first returns the place where the search for a mixed token starts.
func (d *directory) first(token uint64) directoryPlace {
	slots := d.parts[bits.RotateLeft64(token, d.width)&uint64(len(d.parts)-1)]
	at := firstSlot(slots, token)
	return directoryPlace{slots, at, slots[at]}
}

// find returns the entry of the token, unknownToken if there is none; p must be the place that first returned for it.
func (p *directoryPlace) find(token uint64) uint32 {
	s, at := p.slot, p.at
	for s.entry != unknownToken && (s.low != uint32(token) || s.high != uint32(token>>32)) {
		if at++; at == len(p.slots) {
			at = 0
		}
		s = p.slots[at]
	}
	return s.entry
}
