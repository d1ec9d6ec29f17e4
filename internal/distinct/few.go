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
	if sample := f.most + f.most/2; f.most <= mapMost && len(features) > sample && moreThan(f.most, features[:sample]) {
		f.values = f.values[:f.most+1] // whatever they are
		return
	}
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

// mapMost is the limit up to which moreThan nearly always sees that there are more.
const mapMost = 64

// moreThan tells whether features have more than most different values of nine bits, as half as many
// again nearly always do. It takes a tenth of the time of collecting them.
func moreThan(most int, features []uint64) bool {
	var seen [8]uint64
	for _, v := range features {
		seen[v>>6%8] |= 1 << (v % 64)
	}
	n := 0
	for _, word := range seen {
		n += bits.OnesCount64(word)
	}
	return n > most
}

// Values returns the distinct features in the order in which they were added, valid until the next
// Reset; ok is false if there are too many.
func (f *Few) Values() (values []uint64, ok bool) { return f.values, len(f.values) <= f.most }
