package simjoin

import (
	"math"
)

// GroupMatch is a group that a probe found similar to its own set, with the number of
// elements that they share and that of the group's sets.
type GroupMatch struct {
	Group              int
	Intersection, Size uint32
}

// Prober is the scratch memory of joins and searches: up to 4 bytes a group of the
// index, 4 a token that it keeps, and 150 KiB. The zero value is ready, for one goroutine
// and any index.
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

	classes []class
	size    uint32 // of the probe's set
	tile    tile
	buffer  []row
	rows    []row // of it that are not done
}

// class says what a set of some size must have in common with those of another, whose
// place in the index's sizes is known. A prober holds those that it met last.
type class struct {
	of     uint32 // the former size, 0 if there is none here
	place  uint32 // of the latter
	end    uint32 // the first group that is larger than the latter
	need   uint32 // elements that must be common
	differ uint32 // elements that may be in one of the two sets only
}

// refused marks the count of a group that cannot reach the threshold.
const refused = ^uint32(0)

// matchesOf returns the groups before g whose sets reach the threshold with those
// of g, if it is directed in one direction at least. The slice belongs to p and holds
// until p's next use. It does not allocate once p is warm.
func (x *Index) matchesOf(p *Prober, g int) []GroupMatch {
	p.matches, p.owners = p.matches[:0], p.owners[:0]
	own := x.set(g)
	size := x.Size(g)
	place := x.sizeOf[g]
	prefix := min(int(x.prefixes[place])-(size-len(own)), len(own))
	if prefix <= 0 {
		return p.matches
	}
	p.prepare(x)
	p.size = uint32(size)
	x.count(p, own[:prefix], len(own), x.bitmaps[g], int(x.smallest[place]), g)
	return x.finish(p, own, prefix)
}

// count goes through the postings of a prefix of a set of length kept tokens and
// counts shared tokens by group, of those from a group up to another. Searches use it, and
// joins of sets that pairsOfLists is not for; the figures are of joins before there was that.
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
//	    time, and those of bags of words three fifths (BenchmarkPairs).
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
				more := min(left, e.after())
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

// prepare makes the scratch memory of probes fit the index.
func (p *Prober) prepare(x *Index) {
	p.of(x)
	if len(p.count) < x.Len() {
		p.count = make([]uint32, x.Len())
	}
	if p.cursor == nil {
		p.cursor = make([]uint32, len(x.postingStart)-1)
	}
}

// of makes p forget what it knows of any other index.
func (p *Prober) of(x *Index) {
	if p.index != x {
		p.index, p.cursor = x, nil
		if p.classes == nil {
			p.classes = make([]class, classesHeld)
		}
		clear(p.classes)
	}
}

// classesHeld is a power of two.
const classesHeld = 1 << 12

// class returns the class of a set of the probe's size and the groups whose size has a
// place in the index's sizes.
func (p *Prober) class(place uint32) *class { return p.classOf(p.size, place) }

func (p *Prober) classOf(size, place uint32) *class {
	c := &p.classes[(size*61+place)%classesHeld]
	if c.of != size || c.place != place {
		p.index.meet(c, size, place)
	}
	return c
}

// meet makes the class of two sizes.
func (x *Index) meet(c *class, of, place uint32) {
	a, b := uint64(of), uint64(x.sizes[place])
	need := x.filter.MinOverlap(a, b)
	differ := a + b - min(2*need, a+b)
	*c = class{of, place, x.sizeEnds[place], uint32(min(need, math.MaxUint32)), uint32(min(differ, math.MaxUint32))}
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
