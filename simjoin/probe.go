package simjoin

import (
	"math"
)

// GroupMatch is a group that a probe found similar to its own set, with the number of
// elements that they share and the size of the group's sets.
type GroupMatch struct {
	Group              int
	Intersection, Size uint32
}

// Prober is the scratch memory of joins and searches: up to 4 bytes a group of the index, 4 a
// token that it keeps, and 150 KiB. The zero value is ready to use, for one goroutine and any
// index.
type Prober struct {
	count   []uint32 // by group: shared prefix tokens seen, 0 between probes
	touched []uint32 // groups with a count
	matches []GroupMatch

	ranks  []uint32 // of a foreign set's tokens that groups share, ascending
	owners []uint32 // for each of its tokens that one group holds alone: that group

	// cursor holds, by token, where the last search in its list ended; probes in ascending order
	// find the next place close after it.
	cursor []uint32
	index  *Index // the index whose lists these are

	lists [16][]posting // of some tokens
	first uint32        // uses the first posting of each list, so that the loads are not optimised away
	met   [64]meeting

	classes []class
	size    uint32 // of the probe's set
	tile    tile
	buffer  []row
	rows    []row // rows not yet done
}

// class says what sets of two sizes must have in common. The second size is given by its
// place in the index's sizes. A prober caches the classes that it used last.
type class struct {
	of     uint32 // the first size; 0: the entry is free
	place  uint32 // the second size
	end    uint32 // the first group of a larger size than the second
	need   uint32 // elements that must be common
	differ uint32 // elements that may be in only one of the two sets
}

// refused marks the count of a group that cannot reach the threshold.
const refused = ^uint32(0)

// matchesOf returns the groups before g whose sets reach the threshold with those of g, in at
// least one direction if the measure is directed. The slice belongs to p and is valid until
// p's next use. It does not allocate once p is warm.
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

// count goes through the postings of a prefix of a set of length kept tokens and counts
// shared tokens by group, for the groups from … to−1. Searches use it, and joins of sets for
// which pairsOfLists does not pay; the figures are from joins before pairsOfLists existed.
//
//		for every token of the prefix, every posting of it:
//		    size of the group's set larger than before:  look up the class of the sizes
//		    tokens so far, this one and the rest cannot make up the overlap:  next
//		    bitmaps differ in more bits than sets may in elements:  next
//		    else count
//
//	 1. Lists are in the order of groups, and groups in the order of sizes: what depends
//	    on the size is looked up once for all postings of a size.
//	 2. Of the candidates in market baskets at threshold 0.5, a tenth are similar, and
//	    the bitmaps, which lie in the cache, leave few others. All pairs take half the
//	    time, and those of bags of words three fifths (BenchmarkPairs).
//	 3. Bitmaps in the postings themselves, of the whole set or of its rest, are as
//	    fast with small sets and slower with large ones, because lists grow.
//	 4. A group that fails either test may be counted too low or not at all. It
//	    cannot reach the threshold, and finish, which verifies, never counts too much.
//	 5. If the index is larger than caches, each list is a wait for memory, and so is the
//	    bitmap of a posting; a loop that takes one after the other waits for each. So a
//	    loop of its own reads the first postings of several lists, and another the bitmaps
//	    of several postings, which the processor fetches together. All pairs of 185,000
//	    fingerprints of 128 hashes, making these and the index included, take 10.3 s of
//	    processor time instead of 13.0 (bench/bottomk -collection 185000); small sets in
//	    caches take up to a tenth longer.
func (x *Index) count(p *Prober, prefix []uint32, length int, b bitmap, from, to int) {
	left := uint32(length)
	most := uint32(len(p.owners)) // tokens that may have been counted before this one
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
				if int(e.group) >= x.listed { // bitmaps of sets as large as these rule out next to nothing
					p.see(e.group, more, c.need)
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
	group, more  uint32 // more: elements that they may share after the token
	need, differ uint32 // as in class
}

// open sets p.lists to the postings of the tokens and reads the first of each.
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

// compare counts those of the first n meetings whose bitmaps do not rule them out.
func (p *Prober) compare(x *Index, b bitmap, n int) {
	for _, m := range p.met[:n] {
		if b.differ(&x.bitmaps[m.group]) <= m.differ {
			p.see(m.group, m.more, m.need)
		}
	}
}

// seek returns the place of the first posting of a group ≥ from.
func (p *Prober) seek(token uint32, list []posting, from uint32) int {
	if from == 0 { // as for containment, where no partner is too small: do not use cursors
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

// seekSteps is how many postings seek reads one after the other.
const seekSteps = 8

// see counts a token that a group shares with the set. They may share up to more elements
// after it; if the sum is below need, see refuses the group.
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

// finish decides about the groups that a prefix of the set own has counted.
func (x *Index) finish(p *Prober, own []uint32, prefix int) []GroupMatch {
	for _, other := range p.touched {
		seen := p.count[other]
		p.count[other] = 0
		if seen == refused {
			continue
		}
		alone := 0 // tokens that no other group holds; they are not in own
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

// complete finishes the count of common tokens of two sets whose first prefixA and prefixB
// tokens share count.
//
// Take the set whose prefix ends at the lower token. All tokens of this prefix are counted:
// any that the other set has are in the other's prefix. The other set has used up at least
// count tokens, so the merge continues there after count tokens.
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

// prepare makes the scratch memory of p large enough for the index.
func (p *Prober) prepare(x *Index) {
	p.of(x)
	if len(p.count) < x.Len() {
		p.count = make([]uint32, x.Len())
	}
	if p.cursor == nil {
		p.cursor = make([]uint32, len(x.postingStart)-1)
	}
}

// of drops everything that p caches of another index.
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

// class returns the class of the probe's size and the size at the given place of the index's
// sizes.
func (p *Prober) class(place uint32) *class { return p.classOf(p.size, place) }

func (p *Prober) classOf(size, place uint32) *class {
	c := &p.classes[(size*61+place)%classesHeld]
	if c.of != size || c.place != place {
		p.index.meet(c, size, place)
	}
	return c
}

// meet computes the class of two sizes.
func (x *Index) meet(c *class, of, place uint32) {
	a, b := uint64(of), uint64(x.sizes[place])
	need := x.filter.MinOverlap(a, b)
	differ := a + b - min(2*need, a+b)
	*c = class{of, place, x.sizeEnds[place], uint32(min(need, math.MaxUint32)), uint32(min(differ, math.MaxUint32))}
}

// firstFrom returns the place of the first posting of a group ≥ from.
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
