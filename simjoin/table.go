package simjoin

import (
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// dictionary numbers mixed tokens in the order of their first appearance and
// counts their occurrences. Open addressing with linear probing, at most three
// slots of four in use.
type dictionary struct {
	slots []slot
	count []uint32
}

// slot holds a token and its number plus one; zero marks a free slot.
type slot struct {
	token  uint64
	number uint32
}

const firstSlots = 1 << 10

// reset forgets all tokens.
func (d *dictionary) reset() {
	if d.slots == nil {
		d.slots = make([]slot, firstSlots)
	}
	clear(d.slots)
	d.count = d.count[:0]
}

// spread, 2⁶⁴ over the golden ratio, makes the high bits depend on all bits of a mixed
// token. The token's own top bits are equal within its part, and the filter uses its low
// ones.
const spread = 0x9e3779b97f4a7c15

// home is the slot where the search for a token starts.
func home(token uint64) uint64 { return token * spread >> 32 }

// add counts one occurrence of a token and returns its number.
func (d *dictionary) add(token uint64) uint32 {
	mask := uint64(len(d.slots) - 1)
	for at := home(token) & mask; ; at = (at + 1) & mask {
		s := &d.slots[at]
		if s.number == 0 {
			if len(d.count) >= len(d.slots)/4*3 {
				d.grow()
				return d.add(token)
			}
			d.count = append(d.count, 1)
			*s = slot{token, uint32(len(d.count))}
			return s.number - 1
		}
		if s.token == token {
			d.count[s.number-1]++
			return s.number - 1
		}
	}
}

func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]slot, 2*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := home(s.token) & mask
		for d.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = s
	}
}

// groups gives equal sets the same number: it returns the group of every set, and the
// first set and the bitmap of every group, with groups in order of first appearance.
// Empty sets are in no group. It takes 4 bytes a set, and 40 to 59 a group.
func groups(sets [][]uint64) (groupOf, first []uint32, bitmaps []bitmap) {
	type hashed struct{ check, group uint32 } // group is the group's number plus one; 0 marks a free slot
	size := firstSlots
	for size < len(sets)+len(sets)/2 {
		size *= 2
	}
	table := make([]hashed, size)
	mask := uint64(size - 1)
	groupOf = make([]uint32, len(sets))
	for i, set := range sets {
		if len(set) == 0 {
			groupOf[i] = noGroup
			continue
		}
		h, b := hashSet(set)
		check := uint32(h >> 32)
		at := h & mask
		for table[at].group != 0 &&
			(table[at].check != check || !slices.Equal(sets[first[table[at].group-1]], set)) {
			at = (at + 1) & mask
		}
		if table[at].group == 0 {
			first, bitmaps = append(first, uint32(i)), append(bitmaps, b)
			table[at] = hashed{check, uint32(len(first))}
		}
		groupOf[i] = table[at].group - 1
	}
	return groupOf, first, bitmaps
}

// noGroup is the group of the empty sets.
const noGroup = ^uint32(0)

// hashSet returns a hash of a set and its bitmap, which costs little extra because the
// multiplications of the hash leave the processor idle.
func hashSet(set []uint64) (h uint64, b bitmap) {
	h = uint64(len(set))
	for _, token := range set {
		h = hashing.Fold(h^token^hashing.Key2, hashing.Key3)
		b.add(token)
	}
	return hashing.Mix(h), b
}
