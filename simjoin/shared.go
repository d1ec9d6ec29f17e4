package simjoin

import (
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

const (
	// partLength is about how many tokens a part has, as long as there are at most mostParts. A
	// part, its filter and its dictionary then lie in a second-level cache of 1 MiB up to 10
	// million tokens, and the filter up to 50 million.
	partLength = 1 << 14
	// mostParts bounds the number of places to which split writes alternately. Four times as
	// many no longer fit in the first-level cache, which costs 7 ns a token.
	mostParts = 1 << 8
	// passLength is about how many tokens are in parts at once, for 12 bytes each. Each pass
	// reads all sets again.
	passLength = 1 << 23
)

// shared finds the tokens that at least two groups hold; set first[k] is of group group[k].
// It returns the holders of one such token after the other, and how many holders each token
// has.
//
// Numbering every token in one large table spends nine tenths of an index's time on cache
// misses, although few of the shingles of texts occur twice. Therefore:
//
//		cut (token, group) by the top bits of the mixed token into parts
//		for each part:
//		    seen[low bits of the mixed token] = never, once, or more often
//		    take the tokens seen more often, and the few others that share their bits
//		    number and count them in a small table
//		    list the groups of those counted twice or more, by number
//
//	 1. A part lies in the cache, and cutting reads and writes in sequence. All of
//	    NewIndex takes 24 ns a token for the 2.8 million shingles of a newswire, 91 with
//	    one table, and 18 for 10 million that are mostly unique, where it was 121
//	    (BenchmarkNewIndexReuters, BenchmarkNewIndexMostlyUnique).
//	 2. The filter has no branch that depends on the data, and lets through only 12
//	    to 22 of 100 unique tokens. It saves 7 ns a token in both benchmarks; if
//	    no token is unique it costs 1.
//	 3. Mixing is a bijection: mixed tokens can replace the tokens, are spread evenly
//	    even if those are small integers, and have bits for every purpose.
//	 4. The lists overwrite the groups that were read before. The lists of several passes
//	    are joined: mixed tokens are spread evenly, so the first pass tells their length.
//	 5. If distinct tokens are so few that one table of them lies in the cache, as
//	    items of a shop do, there is one part and no filter: NewIndex of market
//	    baskets takes two thirds of the time (BenchmarkNewIndexRetail).
func shared(sets [][]uint64, first, group []uint32) (holders, count []uint32) {
	var c counter
	total := tokensOf(sets, first)
	if fewDistinct(sets, first, total) {
		return c.listFew(sets, first, group, total), c.shared
	}
	holders = listParts(sets, first, group, cutFor(total), func(_ int, tokens []uint64, groups, dst []uint32) int {
		c.filter(tokens, groups)
		return c.list(dst)
	})
	return holders, c.shared
}

// cut says how tokens are cut into parts: by width top bits, in so many passes.
type cut struct{ width, passes int }

func cutFor(tokens int) cut {
	passes := max((tokens+passLength/2)/passLength, 1)
	return cut{bits.Len(uint(min(tokens/partLength, mostParts*passes-1))), passes}
}

// listParts cuts the mixed tokens, with the groups that hold them, into parts by their top
// bits. It calls list for each part in turn; list writes its results to dst, which may
// overlap the groups, and returns how many it wrote. listParts returns the results of all
// calls.
func listParts(sets [][]uint64, first, group []uint32, how cut,
	list func(part int, tokens []uint64, groups, dst []uint32) int) (all []uint32) {
	sizes := make([]int, 1<<how.width)
	mask := uint64(len(sizes) - 1)
	for _, i := range first {
		for _, token := range sets[i] {
			sizes[bits.RotateLeft64(hashing.Mix(token), how.width)&mask]++
		}
	}
	step := (len(sizes) + how.passes - 1) / how.passes
	var tokens []uint64
	var groups []uint32
	for from := 0; from < len(sizes); from += step {
		sizes := sizes[from:min(from+step, len(sizes))]
		total := 0
		for _, n := range sizes {
			total += n
		}
		if len(tokens) < total {
			tokens, groups = make([]uint64, total), make([]uint32, total)
		}
		fillParts(sets, first, group, how.width, from, sizes, tokens, groups)
		kept, begin := 0, 0
		for i, n := range sizes {
			kept += list(from+i, tokens[begin:begin+n], groups[begin:begin+n], groups[kept:begin+n])
			begin += n
		}
		switch {
		case how.passes == 1:
			return groups[:kept]
		case from == 0:
			all = make([]uint32, 0, kept*how.passes+kept*how.passes/64)
		}
		all = append(all, groups[:kept]...)
	}
	return all
}

// fillParts puts mixed tokens and their groups into the parts from the given one on, one
// part after the other; sizes are the parts' sizes. It first leaves out the tokens of other
// parts, without a branch.
func fillParts(sets [][]uint64, first, group []uint32, width, from int, sizes []int, tokens []uint64, groups []uint32) {
	mask := uint64(1)<<width - 1
	ends := make([]int, len(sizes))
	copy(ends, sizes)
	sumBefore(ends)
	var batch [256]uint64
	for k, i := range first {
		g := group[k]
		for set := sets[i]; len(set) > 0; {
			some := set[:min(len(set), len(batch))]
			set = set[len(some):]
			n := 0
			for _, token := range some {
				mixed := hashing.Mix(token)
				batch[n&(len(batch)-1)] = mixed
				n += one(bits.RotateLeft64(mixed, width)&mask-uint64(from) < uint64(len(ends)))
			}
			for _, mixed := range batch[:n] {
				part := bits.RotateLeft64(mixed, width)&mask - uint64(from)
				at := ends[part]
				ends[part] = at + 1
				tokens[at], groups[at] = mixed, g
			}
		}
	}
}

func tokensOf(sets [][]uint64, first []uint32) (total int) {
	for _, i := range first {
		total += len(sets[i])
	}
	return total
}

// fewDistinct reports whether the sets, of total tokens in all, seem to have at most about
// 2¹⁵ distinct tokens, so that a table of them takes half a MiB to one. It hashes a sample
// of 100,000 to 200,000 tokens to 2¹⁶ places: with so few distinct tokens at most 0.4 of the
// places are taken (linear counting).
func fewDistinct(sets [][]uint64, first []uint32, total int) bool {
	const places = 1 << 16
	const most, sample = places * 2 / 5, 2 * places
	if total < sample {
		return false
	}
	var seen [places / 64]uint64
	taken := 0
	stride := max(len(first)/(1+len(first)*sample/total), 1)
	for k := 0; k < len(first) && taken <= most; k += stride {
		for _, token := range sets[first[k]] {
			place := hashing.Mix(token) & (places - 1)
			s := &seen[place>>6]
			taken += int(^*s >> (place & 63) & 1)
			*s |= 1 << (place & 63)
		}
	}
	return taken <= most
}

// counter finds the shared tokens part by part.
type counter struct {
	seen   []uint8  // by low bits: as many one bits as occurrences, up to eight
	tokens []uint64 // tokens that passed the filter
	groups []uint32 // the groups that hold them
	number []uint32 // their numbers in table
	table  dictionary
	place  []int    // by number: where in the list the next group goes, or none
	shared []uint32 // how many groups hold each shared token, of all parts so far
}

// filter sets c.tokens and c.groups to those of a part, without most of the tokens that
// occur only once in it.
func (c *counter) filter(tokens []uint64, groups []uint32) {
	size := 1 << bits.Len(uint(4*len(tokens)))
	if len(c.seen) < size {
		c.seen = make([]uint8, size)
	}
	seen := c.seen[:size]
	clear(seen)
	mask := uint64(size - 1)
	for _, token := range tokens {
		s := &seen[token&mask]
		*s = *s<<1 | 1
	}
	if cap(c.tokens) < len(tokens) {
		c.tokens, c.groups = make([]uint64, len(tokens)), make([]uint32, len(tokens))
	}
	toTokens, toGroups := c.tokens[:len(tokens)], c.groups[:len(tokens)]
	n := 0
	for i, token := range tokens {
		toTokens[n], toGroups[n] = token, groups[i]
		n += int(seen[token&mask] >> 1 & 1)
	}
	c.tokens, c.groups = toTokens[:n], toGroups[:n]
}

// take sets c.tokens and c.groups to the whole part. It copies the groups because list
// overwrites them.
func (c *counter) take(tokens []uint64, groups []uint32) {
	c.tokens, c.groups = tokens, append(c.groups[:0], groups...)
}

// none is the place of tokens that one group holds alone.
const none = -1

// list writes the groups of every token that passed the filter and occurs at least twice to
// dst, token after token. It appends how many each has to c.shared and returns the sum.
func (c *counter) list(dst []uint32) int {
	c.table.reset()
	c.number = slices.Grow(c.number[:0], len(c.tokens))
	for _, token := range c.tokens {
		c.number = append(c.number, c.table.add(token))
	}
	sum := c.places()
	for i, number := range c.number {
		if at := c.place[number]; at != none {
			dst[at] = c.groups[i]
			c.place[number] = at + 1
		}
	}
	return sum
}

// places fills c.place for the tokens of the table, appends their counts to c.shared and
// returns the number of holders.
func (c *counter) places() int {
	c.place = slices.Grow(c.place[:0], len(c.table.count))
	sum := 0
	for _, n := range c.table.count {
		if n == 1 {
			c.place = append(c.place, none)
			continue
		}
		c.place = append(c.place, sum)
		c.shared = append(c.shared, n)
		sum += int(n)
	}
	return sum
}

// listFew does the work of filter and list for tokens with few distinct values, whose table
// fits in the cache: it neither cuts them into parts nor filters them.
func (c *counter) listFew(sets [][]uint64, first, group []uint32, total int) (holders []uint32) {
	c.table.reset()
	numbers := make([]uint32, 0, total)
	for _, i := range first {
		for _, token := range sets[i] {
			numbers = append(numbers, c.table.add(hashing.Mix(token)))
		}
	}
	holders = make([]uint32, c.places())
	for k, i := range first {
		for _, number := range numbers[:len(sets[i])] {
			if at := c.place[number]; at != none {
				holders[at] = group[k]
				c.place[number] = at + 1
			}
		}
		numbers = numbers[len(sets[i]):]
	}
	return holders
}
