package distinct

import "math/bits"

// ComparedMost is the most features that Compare takes, of both texts together.
const ComparedMost = 1<<16 - 1

// A Comparer compares the features of two texts without sorting them. It owns scratch memory of up to
// 2 MiB, and belongs to one goroutine.
type Comparer struct {
	slots  []uint16 // the place of a feature in known, plus 1, at the feature's slot or soon behind it; 0: empty
	known  []uint64 // the distinct features of the first text, then those that only the second one has
	met    []uint8  // of each of them 1 if the second text has it
	shift  uint     // of a spread feature to its slot
	spread uint64   // odd
}

// NewComparer returns a comparer. It multiplies features by spread, made odd, to choose their slots: a
// number at random, so that nobody can make a text whose features share one.
func NewComparer(spread uint64) *Comparer { return &Comparer{spread: spread | 1} }

// Compare returns how many distinct features each of two texts has, and how many both have. It costs
// O(len(a) + len(b)), a third of what sorting both costs, and nothing is left of it for the next pair
// of the same text.
//
// The features of the first text are put into a hash table, and those of the second are looked up
// there. Similar texts have long runs of features in common, so each feature is first compared with
// the one that follows the last one found.
func (c *Comparer) Compare(a, b []uint64) (sizeA, sizeB, common int) {
	c.reset(len(a) + len(b))
	for _, v := range a {
		if c.find(v, sizeA) == sizeA {
			sizeA++
		}
	}
	all, next := sizeA, 0
	for _, v := range b {
		if next == all || c.known[next] != v {
			if next = c.find(v, all); next == all {
				all++
			}
		}
		if c.met[next] == 0 {
			c.met[next] = 1
			sizeB++
			if next < sizeA {
				common++
			}
		}
		next++
	}
	return sizeA, sizeB, common
}

// find returns the place of v among the first n known features, or n, where it puts v if it is new.
func (c *Comparer) find(v uint64, n int) int {
	mask := uint64(len(c.slots) - 1)
	at := v * c.spread >> (c.shift & 63)
	i := c.slots[at&mask]
	for i != 0 && c.known[i-1] != v {
		at++
		i = c.slots[at&mask]
	}
	if i != 0 {
		return int(i) - 1
	}
	c.known[n] = v
	c.slots[at&mask] = uint16(n + 1)
	return n
}

// reset forgets all features, and makes room for n of them: four to eight slots for each, so that
// most are in their own slot.
func (c *Comparer) reset(n int) {
	size := 1 << bits.Len(uint(n))
	if cap(c.known) < size {
		c.slots, c.known, c.met = make([]uint16, 4*size), make([]uint64, size), make([]uint8, size)
	}
	c.shift = uint(bits.LeadingZeros(uint(4*size - 1)))
	c.slots, c.known, c.met = c.slots[:4*size], c.known[:size], c.met[:size]
	clear(c.slots)
	clear(c.met)
}
