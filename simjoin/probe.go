package simjoin

// Pair is a pair of sets whose similarity Inter/Union reaches the threshold. A < B.
type Pair struct {
	A, B         uint32
	Inter, Union uint32
}

// Similarity returns Inter/Union, for display.
func (p Pair) Similarity() float64 { return float64(p.Inter) / float64(p.Union) }

// Match is a group that a probe found similar to its own.
type Match struct {
	Group        int
	Inter, Union uint32
}

// Prober is the scratch memory of probes: 4 bytes a group of the index, 4 a token
// that it keeps, and a little more. The zero value is ready, for one goroutine and any index.
type Prober struct {
	count   []uint32 // by group: shared prefix tokens seen, 0 between probes
	touched []uint32 // groups with a count
	matches []Match

	ranks  []uint32 // of a foreign set's tokens that groups share, ascending
	owners []uint32 // for each of its tokens that one group holds alone: that group

	// cursor is by token where a search in its list ended; probes in ascending
	// order find the next place close behind it.
	cursor []uint32
	index  *Index // whose lists they are

	// classes[s-classMin] is of the groups with s elements, seen from a set of
	// classSize elements. Neighbouring probes often share them.
	classes   []class
	classSize int
	classMin  int
}

// class says what a set must have in common with those of a size.
type class struct {
	end    uint32 // the first group that is larger
	need   uint32 // elements that must be common
	differ uint32 // elements that may be in one of the two sets only
}

// refused marks the count of a group that cannot reach the threshold.
const refused = ^uint32(0)

// Probe emits every pair of which one set is in group g and the other in g too or
// in a group before g. Probing all g from 0 to Len()−1, in any order and on any
// number of goroutines, finds every pair of the collection exactly once. Later
// groups hold longer sets and cost more, so hand them out in small batches. The
// order of the pairs is fixed, but neither A nor B is sorted.
//
// m equal sets make m(m−1)/2 pairs: where that may be too many, use Matches and
// Members.
func (x *Index) Probe(p *Prober, g int, emit func(Pair)) {
	own := x.Members(g)
	for i, a := range own {
		for _, b := range own[i+1:] {
			emit(Pair{a, b, x.size[g], x.size[g]})
		}
	}
	for _, m := range x.Matches(p, g) {
		for _, a := range x.Members(m.Group) {
			for _, b := range own {
				emit(Pair{min(a, b), max(a, b), m.Inter, m.Union})
			}
		}
	}
}

// Matches returns the groups before g whose sets reach the threshold with those
// of g. Every pair of distinct sets is thus found exactly once over all g. The
// slice belongs to p and holds until p's next use. It does not allocate once p is
// warm.
func (x *Index) Matches(p *Prober, g int) []Match {
	p.matches, p.owners = p.matches[:0], p.owners[:0]
	own := x.set(g)
	size := int(x.size[g])
	prefix := min(x.threshold.Prefix(size)-(size-len(own)), len(own))
	if prefix <= 0 {
		return p.matches
	}
	p.prepare(x)
	smallest := x.threshold.MinSize(size)
	p.prepareClasses(x, size, smallest, size)
	x.count(p, own[:prefix], len(own), x.bitmaps[g], lowerBound(x.size[:g], uint32(smallest)), g)
	return x.finish(p, own, prefix, size)
}

// count goes through the postings of a prefix of a set of length kept tokens and
// counts shared tokens by group, of those from a group up to another.
//
//		for every token of the prefix, every posting of it:
//		    size of the group's set larger than before:  look up what the size asks for
//		    all tokens before, this one and what may follow do not make up the overlap:  next
//		    bitmaps differ in more bits than sets may in elements:  next
//		    else count
//
//	 1. Lists are in the order of groups, and these in that of sizes: what depends on
//	    the size is looked up once for all postings of a size.
//	 2. Of the candidates in market baskets at threshold 0.5, a tenth are similar, and
//	    the bitmaps, which lie in the cache, leave few others. All pairs take half the
//	    time, and those of bags of words three fifths (BenchmarkProbe).
//	 3. Bitmaps in the postings themselves, of the whole set or of what follows, are as
//	    fast with small sets and slower with large ones, whose lists grow.
//	 4. A group that either test passes over may be counted short or not at all. It
//	    cannot reach the threshold, and finish, which verifies, never counts too much.
func (x *Index) count(p *Prober, prefix []uint32, length int, b bitmap, from, to int) {
	left := uint32(length)
	most := uint32(len(p.owners)) // that may have been counted before this token
	for _, token := range prefix {
		left--
		most++
		list := x.postings[x.postingStart[token]:x.postingStart[token+1]]
		var c class
		for _, e := range list[p.seek(token, list, uint32(from)):] {
			if e.group >= c.end {
				if e.group >= uint32(to) {
					break
				}
				c = p.classes[int(x.size[e.group])-p.classMin]
				c.end = min(c.end, uint32(to))
			}
			more := min(left, e.rest)
			if most+more < c.need || b.differ(&x.bitmaps[e.group]) > c.differ {
				continue
			}
			p.see(e.group, more, c.need)
		}
	}
}

// seek returns the place of the first posting of a group not before from.
func (p *Prober) seek(token uint32, list []posting, from uint32) int {
	at := int(p.cursor[token])
	if at > 0 && list[at-1].group >= from {
		at = 0 // probes do not ascend
	}
	for end := min(at+seekSteps, len(list)); at < end && list[at].group < from; {
		at++
	}
	if at < len(list) && list[at].group < from {
		at += firstFrom(list[at:], from)
	}
	p.cursor[token] = uint32(at)
	return at
}

// seekSteps is how many postings seek looks at one after the other.
const seekSteps = 8

// see counts a token that a group shares with the set, behind which they may share
// so many more, and refuses the group when that makes fewer than they need.
func (p *Prober) see(group, more, need uint32) {
	seen := p.count[group]
	if seen == 0 {
		p.touched = append(p.touched, group)
	} else if seen == refused {
		return
	}
	seen++
	if seen+more < need {
		seen = refused
	}
	p.count[group] = seen
}

// finish decides about the groups that were counted with a prefix of a set, own.
func (x *Index) finish(p *Prober, own []uint32, prefix, size int) []Match {
	for _, other := range p.touched {
		seen := p.count[other]
		p.count[other] = 0
		if seen == refused {
			continue
		}
		alone := 0 // tokens that no other group holds, which are not in own
		if len(p.owners) > 0 {
			alone = lowerBound(p.owners, other+1) - lowerBound(p.owners, other)
		}
		need := int(p.classes[int(x.size[other])-p.classMin].need) - alone
		inter, ok := complete(own, prefix, x.set(int(other)), int(x.indexed[other]), int(seen)-alone, need)
		if ok {
			inter += alone
			union := size + int(x.size[other]) - inter
			p.matches = append(p.matches, Match{int(other), uint32(inter), uint32(union)})
		}
	}
	p.touched = p.touched[:0]
	return p.matches
}

// complete finishes the count of common tokens of two sets, of which it is known
// that the first prefixA and prefixB tokens share count.
//
// Let the first prefix end at the lower token. Then its tokens are all counted:
// whatever they share with the other set lies in the other's prefix. In the other
// set count tokens are known to be used up, so it goes on behind as many.
func complete(a []uint32, prefixA int, b []uint32, prefixB, count, need int) (int, bool) {
	if prefixA == 0 || prefixB == 0 {
		return overlap(a, b, need)
	}
	if a[prefixA-1] < b[prefixB-1] {
		a, b = a[prefixA:], b[count:]
	} else {
		a, b = a[count:], b[prefixB:]
	}
	n, ok := overlap(a, b, need-count)
	return count + n, ok
}

// prepare makes the counters and cursors fit the index.
func (p *Prober) prepare(x *Index) {
	if len(p.count) < len(x.size) {
		p.count = make([]uint32, len(x.size))
	}
	if p.index != x {
		p.index, p.classSize = x, 0
		p.cursor = make([]uint32, len(x.postingStart)-1)
	}
}

// prepareClasses fills p.classes for partners of smallest … largest elements.
func (p *Prober) prepareClasses(x *Index, size, smallest, largest int) {
	if p.classSize == size && largest-smallest < len(p.classes) {
		return
	}
	p.classes = p.classes[:0]
	end := lowerBound(x.size, uint32(smallest))
	for s := smallest; s <= largest; s++ {
		if end < len(x.size) && int(x.size[end]) == s {
			end += lowerBound(x.size[end:], uint32(s)+1)
		}
		need := x.threshold.MinOverlap(size, s)
		p.classes = append(p.classes, class{uint32(end), uint32(need), uint32(max(size+s-2*need, 0))})
	}
	p.classSize, p.classMin = size, smallest
}

// firstFrom returns the place of the first posting of a group not before from.
func firstFrom(list []posting, from uint32) int {
	low, n := 0, len(list)
	for n > 0 {
		half := n / 2
		if list[low+half].group < from {
			low += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return low
}

// SelfJoin returns all pairs of sets that reach the threshold, sorted by A, then
// B. Memory is that of NewIndex and 32 bytes a pair; before that, 2 to 4 bytes a
// token. See Index.Probe for many equal sets, or for many cores.
//
// Sets of which too few tokens are in any other set are left out of the index.
func SelfJoin(sets [][]uint64, t Threshold) []Pair {
	left := withPartners(sets, t)
	few := sets
	if len(left) < len(sets) {
		few = make([][]uint64, len(left))
		for k, i := range left {
			few[k] = sets[i]
		}
	}
	x := NewIndex(few, t)
	equals := 0
	for g := range x.Len() {
		m := len(x.Members(g))
		equals += m * (m - 1) / 2
	}
	pairs := make([]Pair, 0, equals)
	var p Prober
	for g := range x.Len() {
		x.Probe(&p, g, func(pair Pair) {
			pair.A, pair.B = left[pair.A], left[pair.B]
			pairs = append(pairs, pair)
		})
	}
	return sortPairs(pairs, len(sets))
}

// sortPairs sorts by A, then B, both below n, by two stable counting passes.
// O(n + pairs). It reuses and returns one of two buffers.
func sortPairs(pairs []Pair, n int) []Pair {
	other := make([]Pair, len(pairs))
	start := make([]int, n)
	for _, p := range pairs {
		start[p.B]++
	}
	sumBefore(start)
	for _, p := range pairs {
		other[start[p.B]] = p
		start[p.B]++
	}
	clear(start)
	for _, p := range other {
		start[p.A]++
	}
	sumBefore(start)
	for _, p := range other {
		pairs[start[p.A]] = p
		start[p.A]++
	}
	return pairs
}
