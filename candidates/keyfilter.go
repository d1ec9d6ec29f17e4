package candidates

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/extsort"
)

// sideBit returns the bit that marks entries of the right table.
func sideBit(side int) uint64 { return uint64(side) * bands.RightBit }

// add adds the keys of one side that pass filter; nil passes all.
func (k *keyer) add(ctx context.Context, keys *extsort.Sorter, side int, filter func(hashes []uint64, has []bool)) error {
	return k.eachKey(ctx, side, func() (func(*keyBatch) error, func() error) {
		out := keys.Appender()
		return func(b *keyBatch) error {
			has := b.room()
			if filter != nil {
				filter(b.hashes, has)
			}
			for i, hash := range b.hashes {
				if filter != nil && !has[i] {
					continue
				}
				if err := out.Add(hash, sideBit(side)|b.entries[i]); err != nil {
					return err
				}
			}
			return nil
		}, out.Flush
	})
}

// note calls note with all keys of one side, in batches.
func (k *keyer) note(ctx context.Context, side int, note func(hashes []uint64)) error {
	return k.eachKey(ctx, side, func() (func(*keyBatch) error, func() error) {
		return func(b *keyBatch) error { note(b.hashes); return nil }, noEnd
	})
}

// usualKeys is the approximate number of keys of a record.
const usualKeys = 32

// addRepeated adds all keys that several records of the only table have, and a few others.
func (k *keyer) addRepeated(ctx context.Context, keys *extsort.Sorter) error {
	slots := uint64(4*usualKeys) * uint64(k.left.Len())
	if k.Memory > 0 {
		slots = min(slots, 2*uint64(k.Memory)) // half of the memory: the keys have the other half
	}
	f := newRepeats(slots)
	if err := k.note(ctx, 0, f.note); err != nil {
		return err
	}
	return k.add(ctx, keys, 0, f.has)
}

// repeats is a filter that tells which hashes certainly did not occur twice. It has two bits for
// each slot: seen once, seen twice. note may be called concurrently, and has may, but not both at
// the same time.
type repeats []uint64

func newRepeats(slots uint64) repeats { return make(repeats, slots/32+1) }

func (r repeats) place(hash uint64) (word *uint64, once uint64) {
	at, _ := bits.Mul64(hash, uint64(len(r)))
	return &r[at], 1 << (hash & 62)
}

// note records that hashes occurred. It reads all their words before it changes any: reads wait for
// memory together, changes one after the other.
func (r repeats) note(hashes []uint64) {
	for _, hash := range hashes {
		word, _ := r.place(hash)
		_ = atomic.LoadUint64(word)
	}
	for _, hash := range hashes {
		word, once := r.place(hash)
		if old := atomic.LoadUint64(word); old&(once<<1) == 0 && atomic.OrUint64(word, once)&once != 0 {
			atomic.OrUint64(word, once<<1)
		}
	}
}

// has sets has[i] if hash i may have occurred twice.
func (r repeats) has(hashes []uint64, has []bool) {
	for i, hash := range hashes {
		word, once := r.place(hash)
		has[i] = *word&(once<<1) != 0
	}
}

// addShared adds all keys that both tables have, and a few others: of the larger table the keys
// that pass a Bloom filter of the smaller table's, and of the smaller table the keys that pass a
// Bloom filter of those.
func (k *keyer) addShared(ctx context.Context, keys *extsort.Sorter) error {
	if k.Unfiltered {
		return errors.Join(k.add(ctx, keys, 0, nil), k.add(ctx, keys, 1, nil))
	}
	small, large := 0, 1
	if k.left.Len() > k.right.Len() {
		small, large = 1, 0
	}
	room := usualKeys * k.side(small).Len()
	ofSmall, ofLarge := bloom.New(room), bloom.New(room)
	if err := k.note(ctx, small, ofSmall.AddAllShared); err != nil {
		return err
	}
	if err := k.add(ctx, keys, large, func(hashes []uint64, has []bool) {
		ofSmall.HasAll(hashes, has)
		for i, hash := range hashes {
			if has[i] {
				ofLarge.AddShared(hash)
			}
		}
	}); err != nil {
		return err
	}
	return k.add(ctx, keys, small, ofLarge.HasAll)
}
