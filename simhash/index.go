package simhash

import (
	"fmt"
	"math/bits"
	"slices"
)

// Match is a fingerprint that was found: its place in the input, and its Hamming distance
// from the query.
type Match struct {
	ID       uint32
	Distance int
}

// Index finds the fingerprints within a Hamming distance d of a query, exactly and
// without looking at all the others, by multi-index hashing (Norouzi, Punjani, Fleet,
// "Fast Search in Hamming Space with Multi-Index Hashing", CVPR 2012). The bits are cut
// into m blocks. Two fingerprints that differ in at most d bits differ in at most ⌊d/m⌋
// bits of one of the first (d mod m)+1 blocks, or in fewer bits of one of the others. So
// each block has a table from its bits to fingerprints, and a query looks up all keys
// within that distance of its own. With m = d+1 these are the block tables of Manku, Jain
// and Das Sarma (WWW 2007). NewIndex takes the m that costs least for as many random
// fingerprints.
//
// An index is immutable; any number of goroutines may search it at the same time. Memory:
// see [Index.Size].
type Index struct {
	fingerprints []uint64
	words        int
	distance     int
	tables       []hammingTable
}

// hammingTable holds the fingerprints in the order of a key, which is some of their bits.
type hammingTable struct {
	low     int // first bit of the key
	keyBits int
	radius  int      // bits in which a key may differ from the query's
	starts  []uint32 // of each key's bucket in ids, and the end
	ids     []uint32
	values  []uint64 // the fingerprints of ids, if they have one word
}

// NewIndex makes an index of fingerprints of width bits, each of ⌈width/64⌉ words one
// after the other, for distances up to distance, 0 to width−1. Unused bits must be zero.
// The index keeps fingerprints, which must not change any more. It is an error if width
// or distance are out of range, the words are not a whole number of fingerprints, or
// there are 2³² or more. Cost: O(n) for each table.
func NewIndex(fingerprints []uint64, width, distance int) (*Index, error) {
	if width < 1 || width > MaxBits {
		return nil, fmt.Errorf("simhash: fingerprints of %d bits: an index takes 1 to %d", width, MaxBits)
	}
	words := (width + 63) / 64
	if len(fingerprints)%words != 0 {
		return nil, fmt.Errorf("simhash: %d words are not a whole number of fingerprints of %d words", len(fingerprints), words)
	}
	x := &Index{fingerprints: fingerprints, words: words, distance: distance}
	if err := checkSearch(x.Len(), width, distance); err != nil {
		return nil, err
	}
	x.tables = cheapestTables(x.Len(), width, distance)
	for i := range x.tables {
		x.fill(&x.tables[i])
	}
	return x, nil
}

// Costs, roughly in nanoseconds. Only the ratios matter, and only for speed.
const (
	lookupCost = 20 // a bucket: two reads of starts and one of ids, anywhere in memory
	nearCost   = 2  // a candidate whose fingerprint lies next to the previous one
	farCost    = 30 // a candidate whose fingerprint lies anywhere
)

// mostTables bounds the memory of an index.
const mostTables = 64

// cheapestTables returns the tables, still empty, for the number of blocks with which a
// query among n random fingerprints costs least.
func cheapestTables(n, width, distance int) []hammingTable {
	var cheapest []hammingTable
	least := 0.0
	for m := 1; m <= min(distance+1, mostTables); m++ {
		tables, cost := blockTables(n, width, distance, m)
		if cheapest == nil || cost < least {
			cheapest, least = tables, cost
		}
	}
	return cheapest
}

// blockTables returns the tables for m ≤ distance+1 blocks and the cost of a query with
// them.
func blockTables(n, width, distance, m int) (tables []hammingTable, cost float64) {
	candidate := float64(nearCost)
	if width > 64 {
		candidate = farCost
	}
	for i := range m {
		low, high := width*i/m, width*(i+1)/m
		t := hammingTable{low: low, radius: distance / m, keyBits: keyBits(n, high-low, 1)}
		if i > distance%m {
			t.radius--
		}
		// A key lies in one word: the word that has more of the block.
		if end := (low/64 + 1) * 64; low+t.keyBits > end {
			if high-end >= end-low {
				t.low = end
				t.keyBits = min(t.keyBits, high-end)
			} else {
				t.keyBits = end - low
			}
		}
		lookups, combinations := 0.0, 1.0
		for r := range min(t.radius, t.keyBits) + 1 {
			lookups += combinations
			combinations *= float64(t.keyBits-r) / float64(r+1)
		}
		cost += lookups * (lookupCost + candidate*float64(n)/float64(uint64(1)<<t.keyBits))
		tables = append(tables, t)
	}
	return tables, cost
}

func (t *hammingTable) key(fingerprint []uint64) uint64 {
	return fingerprint[t.low/64] >> (t.low % 64) & (1<<t.keyBits - 1)
}

// fill sorts the fingerprints into the buckets of a table.
func (x *Index) fill(t *hammingTable) {
	n := x.Len()
	t.starts = make([]uint32, 1<<t.keyBits+1)
	for i := range n {
		t.starts[t.key(x.at(i))]++
	}
	end := uint32(0)
	for k, count := range t.starts { // starts[k] becomes the end of bucket k
		end += count
		t.starts[k] = end
	}
	t.ids = make([]uint32, n)
	if x.words == 1 {
		t.values = make([]uint64, n)
	}
	for i := n - 1; i >= 0; i-- { // backwards: ids ascend within a bucket, ends become starts
		k := t.key(x.at(i))
		t.starts[k]--
		at := t.starts[k]
		t.ids[at] = uint32(i)
		if x.words == 1 {
			t.values[at] = x.fingerprints[i]
		}
	}
}

// Len returns the number of fingerprints.
func (x *Index) Len() int { return len(x.fingerprints) / x.words }

// Size returns the memory of the index in bytes, without the fingerprints given to
// NewIndex: for each table 4 bytes a fingerprint (12 if it has one word), and
// 4·2^b, b ≤ 24, for b bits of a key; 10 million fingerprints of 64 bits with
// distance 3 take three tables, 385 MB.
func (x *Index) Size() int64 {
	size := 0
	for i := range x.tables {
		t := &x.tables[i]
		size += 4*len(t.starts) + 4*len(t.ids) + 8*len(t.values)
	}
	return int64(size)
}

func (x *Index) at(i int) []uint64 { return x.fingerprints[i*x.words : (i+1)*x.words] }

// AppendWithin appends to dst all fingerprints within distance of the query, in
// ascending order of ID. It panics when the distance is above the index's, or the
// query does not have the fingerprints' number of words. Cost: see [Index]; it
// allocates nothing but room in dst.
func (x *Index) AppendWithin(dst []Match, query []uint64, distance int) []Match {
	return x.search(dst, query, distance, 0)
}

// AppendLater appends to dst all fingerprints after the id-th within distance of it,
// in ascending order of ID. Called for every id, it gives all pairs, each once.
// It panics as AppendWithin does.
func (x *Index) AppendLater(dst []Match, id uint32, distance int) []Match {
	return x.search(dst, x.at(int(id)), distance, uint64(id)+1)
}

// search appends the fingerprints from the id-th on.
func (x *Index) search(dst []Match, query []uint64, distance int, from uint64) []Match {
	if distance > x.distance || len(query) != x.words {
		panic(fmt.Sprintf("simhash: a query of %d words and distance %d in an index of %d words for distances up to %d",
			len(query), distance, x.words, x.distance))
	}
	found := len(dst)
	for i := range x.tables {
		t := &x.tables[i]
		key := t.key(query)
		dst = x.look(dst, i, key, query, distance, from)
		for r := 1; r <= min(t.radius, t.keyBits); r++ {
			for flips := uint64(1)<<r - 1; flips < 1<<t.keyBits; flips = nextCombination(flips) {
				dst = x.look(dst, i, key^flips, query, distance, from)
			}
		}
	}
	slices.SortFunc(dst[found:], func(a, b Match) int { return int(int64(a.ID) - int64(b.ID)) })
	return dst
}

// nextCombination returns the next larger word with as many ones (Gosper).
func nextCombination(w uint64) uint64 {
	lowest := w & -w
	ripple := w + lowest
	return ripple | (w^ripple)>>2>>bits.TrailingZeros64(lowest)
}

// look appends the matches in a bucket of the i-th table, except those that an earlier
// table has found.
func (x *Index) look(dst []Match, i int, key uint64, query []uint64, distance int, from uint64) []Match {
	t := &x.tables[i]
	start, end := t.starts[key], t.starts[key+1]
	if x.words == 1 {
		q := query[0]
		for at, v := range t.values[start:end] {
			if d := bits.OnesCount64(v ^ q); d <= distance {
				id := t.ids[int(start)+at]
				if uint64(id) >= from && !x.offered(i, query, t.values[int(start)+at:][:1]) {
					dst = append(dst, Match{id, d})
				}
			}
		}
		return dst
	}
	for _, id := range t.ids[start:end] {
		if uint64(id) < from {
			continue
		}
		f := x.at(int(id))
		if d, ok := within(f, query, distance); ok && !x.offered(i, query, f) {
			dst = append(dst, Match{id, d})
		}
	}
	return dst
}

// within returns the distance of two fingerprints; ok is false if it is above limit.
func within(a, b []uint64, limit int) (d int, ok bool) {
	b = b[:len(a)]
	for i, w := range a {
		if d += bits.OnesCount64(w ^ b[i]); d > limit {
			return d, false
		}
	}
	return d, true
}

// offered reports whether a query finds a fingerprint by a table before the i-th.
func (x *Index) offered(i int, query, fingerprint []uint64) bool {
	for j := range i {
		t := &x.tables[j]
		if bits.OnesCount64(t.key(query)^t.key(fingerprint)) <= t.radius {
			return true
		}
	}
	return false
}
