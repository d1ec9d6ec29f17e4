package simjoin

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
// 56 a group and 4 a set; while it is built, 12 for every token of the groups and a
// little more, then 4T and 8 a token that is kept.
type Index struct {
	threshold Threshold

	members     []uint32 // sets by group, ascending in each
	memberStart []int

	size    []uint32 // of each group's set, with the dropped tokens
	bitmaps []bitmap // of each group's set
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
// tokens that sets share, and fewer than 2³¹ tokens a set. Expected O(total tokens).
func NewIndex(sets [][]uint64, t Threshold) *Index {
	x := &Index{threshold: t}
	first, group := x.group(sets)
	holders, count := shared(sets, first, group)
	x.arrange(holders, count)
	x.post(t.IndexPrefix)
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

// group collapses equal sets and orders the groups by size, then by first member.
// It returns the groups' first members, ascending, and their groups.
func (x *Index) group(sets [][]uint64) (first, place []uint32) {
	groupOf, first, unordered := groups(sets)
	sizes := make([]uint32, len(first))
	for g, i := range first {
		sizes[g] = uint32(len(sets[i]))
	}
	x.size = make([]uint32, len(first))
	place = make([]uint32, len(first))
	x.bitmaps = make([]bitmap, len(first))
	for p, g := range ascending(sizes) {
		x.size[p], place[g] = sizes[g], uint32(p)
		x.bitmaps[p] = unordered[g]
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
	return first, place
}

// arrange numbers the shared tokens by ascending count and fills x.tokens with the
// sets, sorted: going through the tokens in that order, it appends each to the sets
// of its holders. O(tokens), no comparison. It returns the tokens' old numbers in
// the new order.
func (x *Index) arrange(holders, count []uint32) (order []uint32) {
	x.start = make([]int, len(x.size)+1)
	for _, g := range holders {
		x.start[g]++
	}
	x.tokens = make([]uint32, sumBefore(x.start))
	from := make([]int, len(count)+1)
	for id, n := range count {
		from[id] = int(n)
	}
	sumBefore(from)
	order = ascending(count)
	for rank, id := range order {
		for _, g := range holders[from[id]:from[id+1]] {
			x.tokens[x.start[g]] = uint32(rank)
			x.start[g]++
		}
	}
	shiftBack(x.start)
	clear(from)
	x.postingStart = from
	return order
}

// ascending returns the indices of counts by ascending count, then index.
// O(len(counts) + the largest).
func ascending(counts []uint32) []uint32 {
	most := uint32(0)
	for _, c := range counts {
		most = max(most, c)
	}
	start := make([]int, int(most)+1)
	for _, c := range counts {
		start[c]++
	}
	sumBefore(start)
	order := make([]uint32, len(counts))
	for i, c := range counts {
		order[start[c]] = uint32(i)
		start[c]++
	}
	return order
}

// post indexes the first tokens of every set, whose number is prefixOf its size: as
// many of the kept ones as are left after the dropped ones, which come first in the
// order.
func (x *Index) post(prefixOf func(size int) int) {
	x.indexed = make([]uint32, len(x.size))
	for g := range x.size {
		kept := x.set(g)
		prefix := prefixOf(int(x.size[g])) - (int(x.size[g]) - len(kept))
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
