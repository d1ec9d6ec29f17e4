package distinct

import "math/bits"

// Few collects distinct features as long as there are few, in O(1) each. Of a text with many it
// looks at little more than the limit.
type Few struct {
	most   int
	round  uint32 // of the slots that are in use
	slots  []fewSlot
	values []uint64
}

type fewSlot struct {
	value uint64
	round uint32
}

// NewFew returns a collector of up to most features.
func NewFew(most int) *Few {
	return &Few{most: most, round: 1, slots: make([]fewSlot, 2<<bits.Len(uint(most))), values: make([]uint64, 0, most+1)}
}

// Reset begins another collection.
func (f *Few) Reset() {
	f.values = f.values[:0]
	if f.round++; f.round == 0 {
		clear(f.slots)
		f.round = 1
	}
}

// Add adds features, which must be hashes: their low bits choose slots.
func (f *Few) Add(features []uint64) {
	mask := uint64(len(f.slots) - 1)
	for _, v := range features {
		if len(f.values) > f.most {
			return
		}
		at := v & mask
		for f.slots[at].round == f.round && f.slots[at].value != v {
			at = (at + 1) & mask
		}
		if f.slots[at].round != f.round {
			f.slots[at] = fewSlot{v, f.round}
			f.values = append(f.values, v)
		}
	}
}

// Values returns the distinct features in the order in which they were added, valid until the next
// Reset; ok is false if there are too many.
func (f *Few) Values() (values []uint64, ok bool) { return f.values, len(f.values) <= f.most }
