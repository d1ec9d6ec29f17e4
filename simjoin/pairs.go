package simjoin

import (
	"iter"
	"math/bits"

	"github.com/alike-dev/alike/internal/simd"
)

// GroupPair is two groups whose sets are similar, A before B, with the number of elements
// that their sets share.
type GroupPair struct {
	A, B         int
	Intersection uint32
}

const (
	listPiece  = 1 << 10 // postings in a piece
	groupPiece = 1 << 6  // groups in a piece
)

// Pieces returns the number of pieces of finding all pairs. Some cost far more than
// others, so hand them out one by one.
func (x *Index) Pieces() int { return x.listPieces() + (x.Len()-x.listed+groupPiece-1)/groupPiece }

func (x *Index) listPieces() int {
	if x.listed == 0 {
		return 0
	}
	return (len(x.postings) + listPiece - 1) / listPiece
}

// Pairs returns the pairs of groups of one piece. While the caller ranges over them it
// must not use p for anything else. All pieces together, in any order and on any number
// of goroutines, give every pair of groups whose sets reach the threshold, in at least
// one direction if it is directed, exactly once. It does not allocate once p is warm.
//
// The first pieces are runs of postings: a pair is found in the list of the first token
// that its sets share. Where sets are so large that their bitmaps rule out little, pieces
// are runs of groups: for each group it reads the lists of its tokens and counts how many
// tokens every other group shares.
func (x *Index) Pairs(p *Prober, piece int) iter.Seq[GroupPair] {
	return func(yield func(GroupPair) bool) {
		if n := x.listPieces(); piece >= n {
			x.pairsOfGroups(p, x.listed+(piece-n)*groupPiece, yield)
		} else {
			x.pairsOfLists(p, piece*listPiece, yield)
		}
	}
}

func (x *Index) pairsOfGroups(p *Prober, from int, yield func(GroupPair) bool) {
	for g := from; g < min(from+groupPiece, x.Len()); g++ {
		for _, m := range x.matchesOf(p, g) {
			if !yield(GroupPair{m.Group, g, m.Intersection}) {
				return
			}
		}
	}
}

// pairsOfLists finds the pairs whose later group's posting is among the listPiece
// postings from one on.
//
//		for every list, every 64 postings of it, the columns:
//		    put their bitmaps side by side
//		    for every posting after them, the rows:
//		        of the columns before it that are not too small, find those whose bitmaps
//		            differ from its own in no more bits than sets may in elements
//		        for each of these:
//		            the elements after the token cannot be enough in common:  next
//		            the sets share a token before this one:  next, that list has the pair
//		            else count what they share from here on
//
//	 1. A list of n postings has n² pairs, and its n bitmaps are read from memory once,
//	    together, and not n² times one after the other. All pairs of 740,000 fingerprints
//	    of 128 hashes, of which 2.5·10⁹ share a list, take a tenth of the time of counting
//	    set by set (bench/bottomk -collection 740000).
//	 2. One vector instruction counts the bits of eight words: 64 columns take 25 ns.
//	 3. Bitmaps let through one in a hundred or fewer of unrelated sets that share a token
//	    (see tells). So looking at a pair again in each list that it shares costs little,
//	    and no memory is needed for any group.
func (x *Index) pairsOfLists(p *Prober, from int, yield func(GroupPair) bool) {
	p.of(x)
	to := min(from+listPiece, len(x.postings))
	p.read(x, from, to)
	token := lastFrom(x.postingStart, from)
	for from < to {
		for x.postingStart[token+1] <= from {
			token++
		}
		start, end := x.postingStart[token], min(x.postingStart[token+1], to)
		list := x.postings[start:end]
		if last := firstFrom(list, uint32(x.listed)); last > from-start {
			if !x.pairsOfList(p, list[:last], from-start, yield) {
				return
			}
		}
		p.rows = p.rows[end-from:]
		from = end
	}
}

// lastFrom returns the last place of ascending numbers with a number ≤ at.
func lastFrom(starts []int, at int) int {
	low, n := 0, len(starts)
	for n > 0 {
		half := n / 2
		if starts[low+half] <= at {
			low += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return low - 1
}

// row holds the data of a posting's group.
type row struct {
	bitmap bitmap
	size   uint32
	place  uint32 // of its size
}

// read fills p.rows for a run of postings, whose data the processor fetches together.
func (p *Prober) read(x *Index, from, to int) {
	if cap(p.buffer) < listPiece {
		p.buffer = make([]row, listPiece)
	}
	p.rows = p.buffer[:to-from]
	for i, e := range x.postings[from:to] {
		r := &p.rows[i]
		r.bitmap = x.bitmaps[e.group]
		r.place = x.sizeOf[e.group]
	}
	for i := range p.rows {
		p.rows[i].size = x.sizes[p.rows[i].place]
	}
}

// tile holds the columns.
type tile struct {
	bitmaps simd.ParityTile
	n       int
	at      [tileLength]uint32 // in the list
	groups  [tileLength]uint32
	places  [tileLength]uint32 // of the groups' sizes
	ends    [tileLength]uint8  // the first column of another size
}

const tileLength = 64

// fill takes the next columns from a place of the list on and returns the place after
// them. Postings after the IndexPrefix of their set are rows only. rows are those of the
// postings from first on.
func (t *tile) fill(x *Index, list []posting, at, first int, rows []row) int {
	t.n = 0
	for ; at < len(list)-1 && t.n < tileLength; at++ {
		e := list[at]
		if e.rest&behindPrefix != 0 {
			continue
		}
		k := t.n & (tileLength - 1)
		b := &x.bitmaps[e.group]
		if at >= first {
			b = &rows[at-first].bitmap
		}
		for w := range b {
			t.bitmaps[w][k] = b[w]
		}
		t.at[k], t.groups[k], t.places[k] = uint32(at), e.group, x.sizeOf[e.group]
		t.n++
	}
	end := t.n
	for k := t.n - 1; k >= 0; k-- {
		if k+1 < t.n && t.places[k] != t.places[k+1] {
			end = k + 1
		}
		t.ends[k] = uint8(end)
	}
	return at
}

// pairsOfList finds the pairs of the postings of a list from first on with earlier ones.
func (x *Index) pairsOfList(p *Prober, list []posting, first int, yield func(GroupPair) bool) bool {
	rows := p.rows
	for at := firstFrom(list, x.smallest[rows[0].place]); at < len(list)-1; {
		t := &p.tile
		at = t.fill(x, list, at, first, rows)
		if t.n == 0 {
			break
		}
		for i := max(first, int(t.at[0])+1); i < len(list); i++ {
			r := &rows[i-first]
			begin, end := 0, t.n
			if int(t.at[end-1]) >= i {
				end = lowerBound(t.at[:end], uint32(i))
			}
			if smallest := x.smallest[r.place]; t.groups[0] < smallest {
				begin = lowerBound(t.groups[:end], smallest)
			}
			if begin >= end {
				continue
			}
			most := p.most(r.size, begin, end)
			mask := simd.ParitiesWithin(&t.bitmaps, end, (*[4]uint64)(&r.bitmap), most) >> begin << begin
			for ; mask != 0; mask &= mask - 1 {
				k := bits.TrailingZeros64(mask) & (tileLength - 1)
				c := p.classOf(r.size, t.places[k])
				inter, ok := x.shared(list[t.at[k]], list[i], int(c.need))
				if ok && !yield(GroupPair{int(t.groups[k]), int(list[i].group), uint32(inter)}) {
					return false
				}
			}
		}
	}
	return true
}

// most returns the largest number of bits in which a set of the given size and those of
// columns begin … end−1 may differ.
func (p *Prober) most(size uint32, begin, end int) uint32 {
	most := uint32(0)
	for k := begin; k < end; k = int(p.tile.ends[k]) {
		most = max(most, p.classOf(size, p.tile.places[k]).differ)
	}
	return most
}

// shared returns how many elements the sets of two postings of one list share. ok is
// false if they share an earlier token than the list's, or fewer than need elements.
func (x *Index) shared(a, b posting, need int) (inter int, ok bool) {
	if 1+int(min(a.after(), b.after())) < need {
		return 0, false
	}
	setA, setB := x.set(int(a.group)), x.set(int(b.group))
	beforeA, beforeB := len(setA)-int(a.after())-1, len(setB)-int(b.after())-1
	if shareAny(setA[:beforeA], setB[:beforeB]) {
		return 0, false
	}
	inter, ok = overlap(setA[beforeA+1:], setB[beforeB+1:], need-1)
	return 1 + inter, ok
}

// shareAny reports whether two sets share an element. It reads only as many of the
// smallest elements as it needs.
func shareAny(a, b []uint32) bool {
	const block = 32
	for len(a) > block && len(b) > 0 {
		end := lowerBound(b, a[block-1]+1)
		if Intersection(a[:block], b[:end]) > 0 {
			return true
		}
		a, b = a[block:], b[end:]
	}
	return Intersection(a, b) > 0
}
