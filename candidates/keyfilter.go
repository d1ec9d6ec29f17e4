package candidates

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/bitset"
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
	places := uint64(4*usualKeys) * uint64(k.left.Len())
	if k.Memory > 0 {
		places = min(places, 2*uint64(k.Memory)) // half of the memory: the keys have the other half
	}
	f := bitset.NewRepeats(max(places, 1))
	if err := k.note(ctx, 0, f.AddAll); err != nil {
		return err
	}
	return k.add(ctx, keys, 0, f.HasAll)
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
