package candidates

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// wholeSeed keeps the key of a whole record apart from the keys of its items.
const wholeSeed = 0x7f4a7c15

// keysOf appends the keys of a record and returns its rarest item, 0 if no item has information.
// items must be ascending. The first key is the hash of all items: if a record has many copies, its
// items are too frequent for any other key.
func (m *keyMaker) keysOf(dst []Key, items []uint32) (_ []Key, rarest uint32) {
	if len(items) > 0 {
		whole := uint64(wholeSeed)
		for _, x := range items {
			whole = hashing.Mix(whole ^ uint64(x))
		}
		dst = append(dst, Key{whole, m.need})
	}
	m.ranked = m.ranked[:0]
	for _, x := range items {
		if info := m.info[x]; info > 0 {
			m.ranked = append(m.ranked, ranked(math.MaxUint16-info)<<32|ranked(x))
		}
	}
	if len(m.ranked) == 0 {
		return dst, 0
	}
	slices.Sort(m.ranked)
	return m.extend(dst, m.ranked[:min(len(m.ranked), mostItems)], Key{}, 1), m.ranked[0].item()
}

// ranked is an item with information; items with the most information sort first.
type ranked uint64

func (r ranked) item() uint32 { return uint32(r) }
func (r ranked) info() uint32 { return math.MaxUint16 - uint32(r>>32) }

// extend appends the smallest sets of items that together with the items of begun have enough
// information for a key. items are sorted by falling information.
func (m *keyMaker) extend(dst []Key, items []ranked, begun Key, joint int) []Key {
	for i, x := range items {
		if len(dst) == mostKeys {
			return dst
		}
		set := Key{hashing.Mix(begun.Hash + uint64(x.item()) + 1), begun.Info + x.info()}
		switch {
		case set.Info >= m.need:
			dst = append(dst, set)
		case joint == mostJoint || set.Info+uint32(mostJoint-joint)*x.info() < m.need:
			return dst // the next items have less information
		default:
			dst = m.extend(dst, items[i+1:], set, joint+1)
		}
	}
	return dst
}

// keyMaker makes keys on one goroutine.
type keyMaker struct {
	*keyer
	ranked []ranked
}

// keyBatch holds keys of some records. They are looked up in a filter together, so that accesses to
// its memory overlap: these accesses take most of the time.
type keyBatch struct {
	hashes  []uint64
	entries []uint64 // of each key: the record, with the key's information in the bits above it
	has     []bool   // of each key: whether a filter has it
}

// batchKeys is the number of keys from which a batch is full.
const batchKeys = 1 << 10

func (b *keyBatch) clear() { b.hashes, b.entries = b.hashes[:0], b.entries[:0] }

// room returns space for a filter's answer about each key.
func (b *keyBatch) room() []bool {
	if len(b.has) < len(b.hashes) {
		b.has = make([]bool, len(b.hashes)+batchKeys)
	}
	return b.has[:len(b.hashes)]
}

// side returns the records of the left or the right table.
func (k *keyer) side(side int) Items {
	if side == 0 {
		return k.left
	}
	return k.right
}

// eachKey calls visit for batches of the keys of all records of one side, from several goroutines.
// Each goroutine has its own visit, and calls end after its last batch.
func (k *keyer) eachKey(ctx context.Context, side int, newVisit func() (visit func(*keyBatch) error, end func() error)) error {
	rarest := k.rarest[side]
	return k.each(ctx, k.side(side), func() (func(int, []uint32) error, func() error) {
		visit, end := newVisit()
		m := keyMaker{keyer: k}
		others := func(dst []Key, _ int) []Key { return dst }
		if k.Others[side] != nil {
			others = k.Others[side]()
		}
		var keys []Key
		var b keyBatch
		flush := func() error {
			defer b.clear()
			return visit(&b)
		}
		return func(i int, items []uint32) error {
			keys, rarest[i] = m.keysOf(keys[:0], items)
			keys = others(keys, i)
			for _, key := range keys {
				b.hashes = append(b.hashes, key.Hash)
				b.entries = append(b.entries, uint64(min(key.Info, 1<<30))<<recordBits|uint64(i))
			}
			if len(b.hashes) < batchKeys {
				return nil
			}
			return flush()
		}, func() error { return errors.Join(flush(), end()) }
	})
}

// The value of a sorted key: the record, with the key's information in the bits above it.
const (
	recordBits = 32
	recordMask = 1<<recordBits - 1
)
