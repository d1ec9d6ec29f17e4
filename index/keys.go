package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
)

// A key in the store begins with one of these letters. Slots and prints are big-endian, so that keys
// sort by number. A value ends with a checksum over the value and its slot (i: over the id and the slot; n: over
// the name and the value).
const (
	keyRecord = 'd' // d slot: a record
	keyPiece  = 'l' // l slot number: a piece of the record, if it is a long one, see pieces.go; without a checksum
	keyBlock  = 's' // s slot: the block that begins with the slot
	keyFilter = 'b' // b slot: which keys documents from the slot on may have, see block.go; not with KeysOnDisk
	keyDead   = 'x' // x slot: the document is dead; Compact removes this key and marks the document in its block
	keyID     = 'i' // i id: the slot of the document with the id, if Options.ByID
	keyWindow = 'w' // w: the window, as first slot, next slot and clock
	keyPast   = 'h' // h place: hashes of the history from this place on, see Index.History
	keyNote   = 'n' // n name: a note of the program that uses the index, see Batch.Note
)

// The letters of keys with KeysOnDisk, see settled.go.
const (
	keyKey   = 'k' // k print slot: empty; the document has a key with this print
	keyFacts = 'p' // p slot: time, digest and words of the document
	keyTail  = 'f' // f: first slot that is not settled, first slot that is not trimmed, number of living documents
	keyReady = 'g' // g: documents before this slot have keys and facts on disk, settled or not
)

// mostPast is the largest number of hashes that one batch remembers.
const mostPast = 1 << 16

// Sizes in bytes.
const (
	printSize  = (keytable.PrintBits + 7) / 8
	prefixSize = 1 + printSize // of a key of kind k: the part that is in Pebble's Bloom filters
	keySize    = prefixSize + 8
)

// slotKey appends a key of a kind that a slot, or a place, follows.
func slotKey(dst []byte, kind byte, slot uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kind), slot)
}

// parseSlotKey returns the slot of such a key.
func parseSlotKey(key []byte) (slot uint64, err error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("key %q: %w: it has no slot", key, errDamaged)
	}
	for _, b := range key[1:] {
		slot = slot<<8 | uint64(b)
	}
	return slot, nil
}

// keyOf is the print of a key that a settled document gains (has) or loses.
type keyOf struct {
	print, slot uint64
	has         bool
}

// append appends the key in the store, of kind k.
func (k keyOf) append(dst []byte) []byte {
	var print [8]byte
	binary.BigEndian.PutUint64(print[:], k.print)
	return binary.BigEndian.AppendUint64(append(append(dst, keyKey), print[8-printSize:]...), k.slot)
}

// putKey adds the change to a batch of Pebble. It is no method of keyOf: one would make Pebble's types a part of Index,
// and each package that imports this one would compile them again.
func putKey(b *pebble.Batch, k keyOf) error {
	if k.has {
		return b.Set(k.append(nil), nil, nil)
	}
	return b.Delete(k.append(nil), nil)
}

// parseKeyOf parses a key of kind k.
func parseKeyOf(b []byte) (k keyOf, err error) {
	if len(b) != keySize {
		return k, fmt.Errorf("key %q: %w: it has no slot", b, errDamaged)
	}
	var print [8]byte
	copy(print[8-printSize:], b[1:])
	return keyOf{binary.BigEndian.Uint64(print[:]), binary.BigEndian.Uint64(b[prefixSize:]), true}, nil
}

func compareKeys(a, b keyOf) int {
	return cmp.Or(cmp.Compare(a.print, b.print), cmp.Compare(a.slot, b.slot))
}

// bucketOrder orders keys by their bytes, as Pebble does by default. It tells Pebble that the prefix of a key of
// kind k ends before the slot, so that a Bloom filter answers whether a print has any slot.
var bucketOrder = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "alike buckets"
	c.Split = func(key []byte) int {
		if len(key) > prefixSize && key[0] == keyKey {
			return prefixSize
		}
		return len(key)
	}
	next := c.ImmediateSuccessor
	c.ImmediateSuccessor = func(dst, prefix []byte) []byte {
		if len(prefix) != prefixSize || prefix[0] != keyKey {
			return next(dst, prefix)
		}
		n := len(dst)
		dst = append(dst, prefix...)
		for i := len(dst) - 1; i >= n; i-- {
			if dst[i]++; dst[i] != 0 {
				break
			}
		}
		return dst
	}
	return &c
}()

// appendSlotOf appends the value of a key of kind i.
func appendSlotOf(dst, id []byte, slot uint64) []byte {
	return seal(binary.LittleEndian.AppendUint64(dst, slot), durable.Checksum(0, id), slot)
}

// parseSlotOf parses the value of a key of kind i.
func parseSlotOf(id, value []byte) (uint64, error) {
	if len(value) == 8+durable.ChecksumSize {
		slot := binary.LittleEndian.Uint64(value)
		if string(appendSlotOf(nil, id, slot)) == string(value) {
			return slot, nil
		}
	}
	return 0, fmt.Errorf("id %q: %w: checksum", id, errDamaged)
}

// parseNote returns a copy of a note without its checksum.
func parseNote(name string, value []byte) ([]byte, error) {
	n := len(value) - durable.ChecksumSize
	if n < 0 || string(seal(nil, durable.Checksum(durable.Checksum(0, []byte(name)), value[:n]), 0)) != string(value[n:]) {
		return nil, fmt.Errorf("note %q: %w: checksum", name, errDamaged)
	}
	return slices.Clone(value[:n]), nil
}

// parseWindow parses the value of the key w.
func parseWindow(value []byte) (first, next uint64, clock int64, err error) {
	if len(value) == 24+durable.ChecksumSize {
		n := numbers(nil, value[:24])
		if _, err = unseal(value, n[0]); err == nil && n[0] <= n[1] {
			return n[0], n[1], int64(n[2]), nil
		}
	}
	return 0, 0, math.MinInt64, fmt.Errorf("window: %w: checksum", errDamaged)
}

// asDamage marks an error as damage if Pebble reports corruption.
func asDamage(err error) error {
	if err != nil && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// entry is a key of a document on its way into the table, and the slot of the document.
type entry = extsort.Entry
