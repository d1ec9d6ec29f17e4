package simjoin

import (
	"math"
	"math/bits"

	"github.com/alike-dev/alike/measure"
)

// Index is a prefix-filter index over a collection of sets. It is immutable and
// safe for concurrent use, each goroutine with a Prober of its own.
//
// Equal sets are one group. Groups are ordered by size: a set is compared only with groups
// before its own, none of which is larger, so their shorter IndexPrefix suffices. Tokens are
// numbered by the number of groups that hold them, ascending, so that prefixes hold the
// rarest. A token that only one group holds can never be shared: it counts in its set's size
// and is dropped.
//
// Memory for g groups with T tokens that occur in at least two groups: 4T for the sets,
// 8·(1−t)/(1+t)·T to 8·(1−t)·T for the postings at a Jaccard threshold t, less the more
// similar the sizes are, and at most 8T; 8 a token that is kept, 56 a group and 4 a set. While
// it is built: 12 for each of up to 8 million tokens of the groups, or of them all if they are
// a few more, then 4T and 8 a token that is kept.
type Index struct {
	threshold measure.Threshold
	directed  bool
	filter    measure.Threshold // reached by pairs that reach threshold in at least one direction

	members     []uint32 // sets by group, ascending in each
	memberStart []int

	sizes    []uint32 // distinct sizes of the groups' sets, with the dropped tokens, ascending
	sizeEnds []uint32 // by size: the first group that is larger
	smallest []uint32 // by size: the first group that is not too small
	prefixes []uint32 // by size: how many tokens must be probed to find every partner that is not larger by its IndexPrefix
	sizeOf   []uint32 // by group: the place of its size in sizes
	bitmaps  []bitmap // by group: the bitmap of its set
	indexed  []uint32 // by group: how many of its kept tokens have postings
	listed   int      // groups that pairsOfLists compares, see telling
	start    []int    // by group: the start of its kept tokens in tokens
	tokens   []uint32 // ascending in each set

	postings     []posting // by token, ascending by group
	postingStart []int
}

// posting says that a group's set holds a token and has rest kept tokens after it. Postings
// after the IndexPrefix of the set, which only smaller sets need, have the top bit of rest
// set.
type posting struct{ group, rest uint32 }

const behindPrefix = 1 << 31

func (e posting) after() uint32 { return e.rest &^ behindPrefix }

// NewIndex builds the index of sets, which are numbered 0 … len(sets)−1 and may be empty. It
// keeps no reference to them. There must be fewer than 2³²−1 sets and shared tokens, and fewer
// than 2³¹ tokens a set. Expected cost O(total tokens).
func NewIndex(sets [][]uint64, t measure.Threshold) *Index {
	x := newIndex(t)
	first, group := x.group(sets)
	holders, count := shared(sets, first, group)
	x.arrange(holders, count)
	x.post(x.filter.IndexPrefix)
	return x
}

func newIndex(t measure.Threshold) *Index {
	return &Index{threshold: t, directed: !t.Measure().Symmetric(), filter: t.Undirected()}
}

// Len returns the number of groups, which are distinct non-empty sets.
func (x *Index) Len() int { return len(x.sizeOf) }

// Members returns the sets of group g, ascending. All are equal. The caller must
// not change the slice.
func (x *Index) Members(g int) []uint32 {
	return x.members[x.memberStart[g]:x.memberStart[g+1]]
}

// Size returns the number of elements of the sets of group g.
func (x *Index) Size(g int) int { return int(x.sizes[x.sizeOf[g]]) }

// group collapses equal sets and orders the groups by size, then by first member.
// It returns the groups' first members, ascending, and their groups.
func (x *Index) group(sets [][]uint64) (first, place []uint32) {
	groupOf, first, unordered := groups(sets)
	sizes := make([]uint32, len(first))
	for g, i := range first {
		sizes[g] = uint32(len(sets[i]))
	}
	x.sizeOf = make([]uint32, len(first))
	place = make([]uint32, len(first))
	x.bitmaps = make([]bitmap, len(first))
	for p, g := range ascending(sizes) {
		if n := len(x.sizes); n == 0 || x.sizes[n-1] != sizes[g] {
			x.sizes, x.sizeEnds = append(x.sizes, sizes[g]), append(x.sizeEnds, uint32(p))
		}
		last := len(x.sizes) - 1
		x.sizeEnds[last]++
		x.sizeOf[p], place[g] = uint32(last), uint32(p)
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

// arrange numbers the shared tokens by ascending count and fills x.tokens with the sets,
// sorted: it goes through the tokens in that order and appends each to the sets of its
// holders. O(tokens), no comparison. It returns the tokens' old numbers in the new order.
func (x *Index) arrange(holders, count []uint32) (order []uint32) {
	x.start = make([]int, x.Len()+1)
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

// ascending returns the indices of counts by ascending count, then index. O(len(counts) +
// largest count).
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

// post indexes the first tokens of every set: prefixOf its size tokens, or, for sets that
// pairsOfLists compares, as many as a partner may probe. Dropped tokens, which come first in
// the order, count towards that number.
func (x *Index) post(prefixOf func(size uint64) uint64) {
	x.weigh()
	short, long := make([]int, len(x.sizes)), make([]int, len(x.sizes))
	for i, size := range x.sizes {
		short[i] = int(x.filter.IndexPrefix(uint64(size)))
		long[i] = int(prefixOf(uint64(size)))
		if int(x.sizeEnds[i]) <= x.listed {
			long[i] = max(long[i], int(x.prefixes[i]))
		}
	}
	x.indexed = make([]uint32, x.Len())
	for g, place := range x.sizeOf {
		kept := x.set(g)
		prefix := min(max(long[place]-(x.Size(g)-len(kept)), 0), len(kept))
		x.indexed[g] = uint32(prefix)
		for _, r := range kept[:prefix] {
			x.postingStart[r]++
		}
	}
	x.postings = make([]posting, sumBefore(x.postingStart))
	for g, place := range x.sizeOf {
		kept := x.set(g)
		from := short[place] - (x.Size(g) - len(kept))
		for k, r := range kept[:x.indexed[g]] {
			e := posting{uint32(g), uint32(len(kept) - k - 1)}
			if k >= from {
				e.rest |= behindPrefix
			}
			x.postings[x.postingStart[r]] = e
			x.postingStart[r]++
		}
	}
	shiftBack(x.postingStart)
}

// weigh computes everything that depends on the sizes of sets alone.
func (x *Index) weigh() {
	x.smallest, x.prefixes = make([]uint32, len(x.sizes)), make([]uint32, len(x.sizes))
	telling := true
	for i, size := range x.sizes {
		least := max(x.filter.MinSize(uint64(size)), uint64(x.sizes[0]))
		x.smallest[i] = uint32(x.groupsBelow(least))
		need := x.filter.MinOverlap(uint64(size), least)
		x.prefixes[i] = uint32(uint64(size) + 1 - min(need, uint64(size)+1))
		telling = telling && tells(x.filter, uint64(size), uint64(size)) && tells(x.filter, uint64(size), min(least, uint64(size)))
		if telling {
			x.listed = int(x.sizeEnds[i])
		}
	}
}

// groupsBelow returns the number of groups whose sets have fewer than size elements.
func (x *Index) groupsBelow(size uint64) int {
	if i := lowerBound(x.sizes, uint32(min(size, math.MaxUint32))); i > 0 {
		return int(x.sizeEnds[i-1])
	}
	return 0
}

// set returns the kept tokens of a group's set.
func (x *Index) set(g int) []uint32 { return x.tokens[x.start[g]:x.start[g+1]] }

// sumBefore replaces every count by the sum of the counts before it and returns the total.
func sumBefore(counts []int) int {
	sum := 0
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
	return sum
}

// shiftBack undoes the effect of filling lists: filling has moved every start to the end of
// its list, which is the start of the next one.
func shiftBack(start []int) {
	copy(start[1:], start)
	start[0] = 0
}

// bitmap maps tokens to 256 values and holds, for each value, the parity of the number of
// a set's tokens with it. Each bit in which two bitmaps differ stands for a different
// token that only one of the sets has (E. Sandes, G. Teodoro, A. Melo, "Bitmap filter:
// speeding up exact set similarity joins with bitwise operations", Information Systems
// 88, 2020).
//
// Sets of n elements that have nothing in common differ in about 128·(1−e^(−n/64)) bits,
// and may differ in 2n·(1−t)/(1+t) elements at threshold t: up to 140 elements at 0.5 and
// 500 at 0.8 the bitmaps rule out nearly all such pairs. With 128 bits it is half as many
// elements, with 64 a fifth, and small sets gain nothing from the smaller memory.
type bitmap [4]uint64

func bitmapOf(set []uint64) (b bitmap) {
	for _, token := range set {
		b.add(token)
	}
	return b
}

func (b *bitmap) add(token uint64) {
	place := token * spread >> 56
	b[place>>6] ^= 1 << (place & 63)
}

// differ returns the number of bits in which two bitmaps differ.
func (b *bitmap) differ(o *bitmap) uint32 {
	return uint32(bits.OnesCount64(b[0]^o[0]) + bits.OnesCount64(b[1]^o[1]) +
		bits.OnesCount64(b[2]^o[2]) + bits.OnesCount64(b[3]^o[3]))
}

// tells reports whether bitmaps rule out nearly all pairs of sets of sizes a and b that
// have exactly one element in common: the number of bits in which those differ by chance
// is at least two standard deviations above what the threshold allows. It only decides by
// which method a pair is found.
//
// If m elements are in one set only, a bit differs if an odd number of them is mapped to
// its value: P = (1−(1−2/n)ᵐ)/2 for n bits, and (1−2(1−2/n)ᵐ+(1−4/n)ᵐ)/4 for two bits.
func tells(t measure.Threshold, a, b uint64) bool {
	need := t.MinOverlap(a, b)
	if need <= 1 { // there is no pair to rule out
		return min(a, b) <= 8
	}
	const n = 64 * float64(len(bitmap{}))
	m := float64(a + b - 2)
	one := math.Pow(1-2/n, m)
	two := math.Pow(1-4/n, m)
	mean := n * (1 - one) / 2
	variance := mean + n*(n-1)*(1-2*one+two)/4 - mean*mean
	return mean-2*math.Sqrt(max(variance, 0)) > float64(a+b)-2*float64(min(need, min(a, b)))
}
