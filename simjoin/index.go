package simjoin

import "slices"

// Index is a prefix-filter index over a collection of sets. It is immutable and
// safe for concurrent probes, each with a Prober of its own.
//
// Equal sets are one group. Groups are ordered by size, so that a probe, which
// looks only at groups before its own, meets no larger set and the shorter
// IndexPrefix suffices. Tokens are numbered by ascending number of groups that
// hold them, so that prefixes are made of the rarest. A token that only one group
// holds can never be shared: it is counted in its set's size and dropped.
//
// Memory for g groups of together T tokens that occur in two groups or more:
// 4T for the sets, about 8·(1−t)/(1+t)·T for the postings, 8 a token that is kept,
// 24 a group and 4 a set; while it is built, up to 8 more for every token of the
// groups and 60 for every distinct one.
type Index struct {
	threshold Threshold

	members     []uint32 // sets by group, ascending in each
	memberStart []int

	size    []uint32 // of each group's set, with the dropped tokens
	indexed []uint32 // kept tokens of it that have postings
	start   []int    // of its kept tokens
	tokens  []uint32 // ascending in each set

	postings     []posting // by token, ascending by group
	postingStart []int
}

// posting says that a group's set holds a token and has rest kept tokens after it.
type posting struct{ group, rest uint32 }

// NewIndex builds the index of sets, which are numbered 0 … len(sets)−1 and may
// be empty. It keeps no reference to them. There must be fewer than 2³²−1 sets and
// distinct tokens, and fewer than 2³¹ tokens a set. Expected O(total tokens + g log g).
func NewIndex(sets [][]uint64, t Threshold) *Index {
	x := &Index{threshold: t}
	order := x.group(sets)
	ids, count := x.number(sets, order)
	x.arrange(ids, count)
	x.post(len(x.postingStart) - 1)
	return x
}

// Len returns the number of groups: of distinct sets that are not empty.
func (x *Index) Len() int { return len(x.size) }

// Members returns the sets of group g, ascending. All are equal. The caller must
// not change the slice.
func (x *Index) Members(g int) []uint32 {
	return x.members[x.memberStart[g]:x.memberStart[g+1]]
}

// Size returns the number of elements of the sets of group g.
func (x *Index) Size(g int) int { return int(x.size[g]) }

// group collapses equal sets, orders the groups by size, then by first member,
// and returns the first member of each.
func (x *Index) group(sets [][]uint64) (order []uint32) {
	groupOf, first := groups(sets)
	keys := make([]uint64, len(first))
	for g, i := range first {
		keys[g] = uint64(len(sets[i]))<<32 | uint64(g)
	}
	slices.Sort(keys)

	order = make([]uint32, len(first))
	x.size = make([]uint32, len(first))
	place := make([]uint32, len(first))
	for p, key := range keys {
		g := uint32(key)
		order[p], x.size[p], place[g] = first[g], uint32(key>>32), uint32(p)
	}
	x.memberStart = make([]int, len(first)+1)
	for i, g := range groupOf {
		if g != noGroup {
			groupOf[i] = place[g]
			x.memberStart[place[g]]++
		}
	}
	total := sumBefore(x.memberStart)
	x.members = make([]uint32, total)
	for i, g := range groupOf {
		if g != noGroup {
			x.members[x.memberStart[g]] = uint32(i)
			x.memberStart[g]++
		}
	}
	shiftBack(x.memberStart)
	return order
}

// number gives every token a number and counts the groups that hold it. ids are
// the numbers of all groups' tokens, one set after the other.
func (x *Index) number(sets [][]uint64, order []uint32) (ids, count []uint32) {
	total := 0
	for _, n := range x.size {
		total += int(n)
	}
	ids = make([]uint32, 0, total)
	d := newDictionary()
	for _, i := range order {
		for _, token := range sets[i] {
			ids = append(ids, d.add(token))
		}
	}
	return ids, d.count
}

// arrange renumbers the tokens by ascending count and fills x.tokens with the
// sets, sorted. Sorting is a transposition there and back: write for every token
// the groups that hold it, then go through the tokens in ascending order and
// append each to its groups' sets. O(tokens), no comparison.
func (x *Index) arrange(ids, count []uint32) {
	rank, start := ranks(count, len(x.size))
	total := sumBefore(start)
	holders := make([]uint32, total)
	x.start = make([]int, len(x.size)+1)
	at := 0
	for g, n := range x.size {
		for _, id := range ids[at : at+int(n)] {
			if r := rank[id]; r != dropped {
				holders[start[r]] = uint32(g)
				start[r]++
				x.start[g]++
			}
		}
		at += int(n)
	}
	shiftBack(start)
	x.tokens = make([]uint32, sumBefore(x.start))
	for r := range len(start) - 1 {
		for _, g := range holders[start[r]:start[r+1]] {
			x.tokens[x.start[g]] = uint32(r)
			x.start[g]++
		}
	}
	shiftBack(x.start)
	x.postingStart = make([]int, len(start))
}

// dropped is the rank of tokens that one group holds alone.
const dropped = ^uint32(0)

// ranks numbers the tokens with a count of two or more by ascending count, and
// returns each one's rank and, by rank, the counts, with a zero behind them.
func ranks(count []uint32, most int) (rank []uint32, sorted []int) {
	start := make([]int, most+2)
	for _, c := range count {
		if c > 1 {
			start[c]++
		}
	}
	kept := sumBefore(start)
	rank = make([]uint32, len(count))
	sorted = make([]int, kept+1)
	for id, c := range count {
		if c == 1 {
			rank[id] = dropped
			continue
		}
		rank[id] = uint32(start[c])
		sorted[start[c]] = int(c)
		start[c]++
	}
	return rank, sorted
}

// post indexes the first tokens of every set: as many of the kept ones as
// IndexPrefix leaves after the dropped ones, which come first in the order.
func (x *Index) post(tokens int) {
	x.indexed = make([]uint32, len(x.size))
	for g := range x.size {
		kept := x.set(g)
		prefix := x.threshold.IndexPrefix(int(x.size[g])) - (int(x.size[g]) - len(kept))
		prefix = min(max(prefix, 0), len(kept))
		x.indexed[g] = uint32(prefix)
		for _, r := range kept[:prefix] {
			x.postingStart[r]++
		}
	}
	x.postings = make([]posting, sumBefore(x.postingStart))
	for g := range x.size {
		kept := x.set(g)
		for k, r := range kept[:x.indexed[g]] {
			x.postings[x.postingStart[r]] = posting{uint32(g), uint32(len(kept) - k - 1)}
			x.postingStart[r]++
		}
	}
	shiftBack(x.postingStart)
}

// set returns the kept tokens of a group's set.
func (x *Index) set(g int) []uint32 { return x.tokens[x.start[g]:x.start[g+1]] }

// sumBefore replaces every count by the sum of those before it and returns the
// sum of all.
func sumBefore(counts []int) int {
	sum := 0
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
	return sum
}

// shiftBack undoes the filling of lists: every start has moved to its list's end,
// which is the next one's start.
func shiftBack(start []int) {
	copy(start[1:], start)
	start[0] = 0
}
