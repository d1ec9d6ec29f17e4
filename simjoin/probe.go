package simjoin

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

// GroupMatch is a group that a probe found similar to its own set, with the number of
// elements that they share and that of the group's sets.
type GroupMatch struct {
	Group              int
	Intersection, Size uint32
}

// Prober is the scratch memory of probes: 4 bytes a group of the index, 4 a token
// that it keeps, and a little more. The zero value is ready, for one goroutine and any index.
type Prober struct {
	count   []uint32 // by group: shared prefix tokens seen, 0 between probes
	touched []uint32 // groups with a count
	matches []GroupMatch

	ranks  []uint32 // of a foreign set's tokens that groups share, ascending
	owners []uint32 // for each of its tokens that one group holds alone: that group

	// cursor is by token where a search in its list ended; probes in ascending
	// order find the next place close behind it.
	cursor []uint32
	index  *Index // whose lists they are

	lists [16][]posting // of some tokens
	first uint32        // made of the first of each, so that they are read
	met   [64]meeting

	// classes are by place in the index's distinct sizes. Each is made when the first
	// group of that size is met, and holds as long as probes are of sets of one size.
	classes []class
	size    uint32 // of the probe's set
}

// class says what a set of some size must have in common with those of another.
type class struct {
	of     uint32 // the former size, 0 if the class is not made
	end    uint32 // the first group that is larger than the latter
	need   uint32 // elements that must be common
	differ uint32 // elements that may be in one of the two sets only
}

// refused marks the count of a group that cannot reach the threshold.
const refused = ^uint32(0)

// Probe emits every pair of which one set is in group g and the other in g too or
// in a group before g. Probing all g from 0 to Len()−1, in any order and on any
// number of goroutines, finds every pair of the collection exactly once, A before B; or,
// for a directed measure, every A that is inside a B, which may be two matches of one
// pair. Later groups hold longer sets and cost more, so hand them out in small batches.
// The order of the matches is fixed, but neither A nor B is sorted.
//
// m equal sets make m(m−1)/2 pairs: where that may be too many, use Matches and
// Members.
func (x *Index) Probe(p *Prober, g int, emit func(measure.Match)) {
	own, size := x.Members(g), uint64(x.Size(g))
	if x.threshold.Reached(size, size, size) {
		for i, a := range own {
			for _, b := range own[i+1:] {
				x.report(measure.Match{A: uint64(a), B: uint64(b), Intersection: size, SizeA: size, SizeB: size}, emit)
			}
		}
	}
	for _, m := range x.Matches(p, g) {
		for _, a := range x.Members(m.Group) {
			for _, b := range own {
				x.report(measure.Match{A: uint64(a), B: uint64(b), Intersection: uint64(m.Intersection), SizeA: uint64(m.Size), SizeB: size}, emit)
			}
		}
	}
}

// report emits a pair that reaches the threshold in one direction at least: by position,
// or in each direction that counts.
func (x *Index) report(m measure.Match, emit func(measure.Match)) {
	if !x.directed && m.A < m.B {
		emit(m)
		return
	}
	turned := measure.Match{A: m.B, B: m.A, Intersection: m.Intersection, SizeA: m.SizeB, SizeB: m.SizeA}
	if !x.directed {
		emit(turned)
		return
	}
	for _, m := range [...]measure.Match{m, turned} {
		if x.threshold.Reached(m.Intersection, m.SizeA, m.SizeB) {
			emit(m)
		}
	}
}

// Matches returns the groups before g whose sets reach the threshold with those
// of g, if it is directed in one direction at least. Every pair of distinct sets is thus
// found exactly once over all g. The slice belongs to p and holds until p's next use. It
// does not allocate once p is warm.
func (x *Index) Matches(p *Prober, g int) []GroupMatch {
	p.matches, p.owners = p.matches[:0], p.owners[:0]
	own := x.set(g)
	size := x.Size(g)
	prefix := min(int(x.filter.Prefix(uint64(size)))-(size-len(own)), len(own))
	if prefix <= 0 {
		return p.matches
	}
	p.prepare(x, size)
	x.count(p, own[:prefix], len(own), x.bitmaps[g], x.groupsBelow(x.filter.MinSize(uint64(size))), g)
	return x.finish(p, own, prefix)
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
//	 5. Where the index is larger than caches, a list is a wait for memory, and so is the
//	    bitmap of a posting; a loop that does one after the other waits for each. So the
//	    first postings of some lists are read in a loop of their own, and the bitmaps of
//	    some postings, which the processor fetches together. All pairs of 185,000
//	    fingerprints of 128 hashes, these and the index included, take 10.3 s of processor in
//	    place of 13.0 (bench/bottomk -collection 185000); small sets in caches take up to a
//	    tenth longer.
func (x *Index) count(p *Prober, prefix []uint32, length int, b bitmap, from, to int) {
	left := uint32(length)
	most := uint32(len(p.owners)) // that may have been counted before this token
	met := 0
	for len(prefix) > 0 {
		n := min(len(prefix), len(p.lists))
		p.open(x, prefix[:n])
		for i, token := range prefix[:n] {
			left--
			most++
			list := p.lists[i]
			var c class
			for _, e := range list[p.seek(token, list, uint32(from)):] {
				if e.group >= c.end {
					if e.group >= uint32(to) {
						break
					}
					c = *p.class(x.sizeOf[e.group])
					c.end = min(c.end, uint32(to))
				}
				more := min(left, e.rest)
				if most+more < c.need {
					continue
				}
				p.met[met] = meeting{e.group, more, c.need, c.differ}
				if met++; met == len(p.met) {
					p.compare(x, b, met)
					met = 0
				}
			}
		}
		prefix = prefix[n:]
	}
	p.compare(x, b, met)
}

// meeting is a group that shares a token with the set.
type meeting struct {
	group, more  uint32 // elements that they may share behind the token
	need, differ uint32 // as those of class
}

// open sets p.lists to the postings of some tokens and reads the first of each.
func (p *Prober) open(x *Index, tokens []uint32) {
	for i, token := range tokens {
		p.lists[i] = x.postings[x.postingStart[token]:x.postingStart[token+1]]
	}
	for _, list := range p.lists[:len(tokens)] {
		if len(list) > 0 {
			p.first += list[0].group
		}
	}
}

// compare counts those of the first n meetings whose bitmaps do not tell them apart.
func (p *Prober) compare(x *Index, b bitmap, n int) {
	for _, m := range p.met[:n] {
		if b.differ(&x.bitmaps[m.group]) <= m.differ {
			p.see(m.group, m.more, m.need)
		}
	}
}

// seek returns the place of the first posting of a group not before from.
func (p *Prober) seek(token uint32, list []posting, from uint32) int {
	if from == 0 { // as for containment, where no partner is too small: cursors are not read
		return 0
	}
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
func (x *Index) finish(p *Prober, own []uint32, prefix int) []GroupMatch {
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
		need := int(p.class(x.sizeOf[other]).need) - alone
		inter, ok := complete(own, prefix, x.set(int(other)), int(x.indexed[other]), int(seen)-alone, need)
		if ok {
			p.matches = append(p.matches, GroupMatch{int(other), uint32(inter + alone), x.sizes[x.sizeOf[other]]})
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

// prepare makes the scratch memory fit the index and a set of a size.
func (p *Prober) prepare(x *Index, size int) {
	if len(p.count) < x.Len() {
		p.count = make([]uint32, x.Len())
	}
	if p.index != x {
		p.index = x
		p.cursor = make([]uint32, len(x.postingStart)-1)
		p.classes = make([]class, len(x.sizes))
	}
	p.size = uint32(size)
}

// class returns the class of the groups whose size has a place in the index's sizes.
func (p *Prober) class(place uint32) *class {
	if p.classes[place].of != p.size {
		p.meet(place)
	}
	return &p.classes[place]
}

// meet makes the class of a size for sets of the probe's.
func (p *Prober) meet(place uint32) {
	x := p.index
	size, of := uint64(x.sizes[place]), uint64(p.size)
	need := x.filter.MinOverlap(of, size)
	differ := size + of - min(2*need, size+of)
	p.classes[place] = class{p.size, x.sizeEnds[place], uint32(min(need, math.MaxUint32)), uint32(min(differ, math.MaxUint32))}
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
