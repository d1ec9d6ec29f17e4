package record

import (
	"math/bits"
	"slices"
)

// A Dictionary numbers hashes from 0 on, in the order of their first use. The zero value is empty. 12 to 24
// bytes a hash.
type Dictionary struct {
	slots  []uint32 // number + 1 of a hash; open addressing
	hashes []uint64
}

// Len returns how many hashes have numbers.
func (d *Dictionary) Len() int { return len(d.hashes) }

// Number returns the number of a hash; a new hash gets the next number.
func (d *Dictionary) Number(hash uint64) uint32 {
	if 2*len(d.hashes) >= len(d.slots) {
		d.grow()
	}
	slot := d.slot(hash)
	if *slot == 0 {
		d.hashes = append(d.hashes, hash)
		*slot = uint32(len(d.hashes))
	}
	return *slot - 1
}

// slot returns the slot of a hash, or the free one that it would take.
func (d *Dictionary) slot(hash uint64) *uint32 {
	mask := uint64(len(d.slots) - 1)
	i := (hash ^ hash>>32) & mask
	for d.slots[i] != 0 && d.hashes[d.slots[i]-1] != hash {
		i = (i + 1) & mask
	}
	return &d.slots[i]
}

// find returns the number of a hash; ok is false if it has none.
func (d *Dictionary) find(hash uint64) (number uint32, ok bool) {
	if len(d.slots) == 0 {
		return 0, false
	}
	n := *d.slot(hash)
	return n - 1, n > 0
}

// first returns the content of the first slot of a hash; 0 if the slot is free.
func (d *Dictionary) first(hash uint64) uint32 {
	if len(d.slots) == 0 {
		return 0
	}
	return d.slots[(hash^hash>>32)&uint64(len(d.slots)-1)]
}

// touch reads what Number looks at first of some hashes, and returns a sum without meaning, see Numbering.Touch.
func (d *Dictionary) touch(hashes []uint64) (sum uint64) {
	for _, hash := range hashes {
		sum += uint64(d.first(hash))
	}
	for _, hash := range hashes {
		if at := d.first(hash); at > 0 {
			sum += d.hashes[at-1]
		}
	}
	return sum
}

func (d *Dictionary) grow() { d.resize(max(64, 2*len(d.slots))) }

// reserve makes room for n hashes in an empty dictionary.
func (d *Dictionary) reserve(n int) {
	if n > 0 {
		d.resize(1 << bits.Len(uint(2*n)))
		d.hashes = make([]uint64, 0, n)
	}
}

// resize makes so many slots, a power of two.
func (d *Dictionary) resize(slots int) {
	d.slots = make([]uint32, slots)
	mask := uint64(len(d.slots) - 1)
	for n, hash := range d.hashes {
		i := (hash ^ hash>>32) & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = uint32(n + 1)
	}
}

func (d *Dictionary) clone() Dictionary {
	return Dictionary{slices.Clone(d.slots), slices.Clone(d.hashes)}
}

func (d *Dictionary) bytes() int64 { return int64(4*cap(d.slots) + 8*cap(d.hashes)) }
