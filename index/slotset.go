package index

import "math/bits"

// slotSet is a set of slots, one bit for each.
type slotSet []uint64

func newSlotSet(slots uint64) slotSet { return make(slotSet, (slots+63)/64) }

func (s slotSet) has(slot uint64) bool { return s[slot/64]>>(slot%64)&1 == 1 }
func (s slotSet) set(slot uint64)      { s[slot/64] |= 1 << (slot % 64) }
func (s slotSet) clear(slot uint64)    { s[slot/64] &^= 1 << (slot % 64) }

// grown returns the set with room for at least so many slots.
func (s slotSet) grown(slots uint64) slotSet {
	for uint64(len(s))*64 < slots {
		s = append(s, 0)
	}
	return s
}

func (s slotSet) count() (n uint64) {
	for _, word := range s {
		n += uint64(bits.OnesCount64(word))
	}
	return n
}

// each calls visit for every slot in order, until it returns an error.
func (s slotSet) each(visit func(slot uint64) error) error {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if err := visit(uint64(i)*64 + uint64(bits.TrailingZeros64(word))); err != nil {
				return err
			}
		}
	}
	return nil
}
