package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/index/internal/keytable"
)

// With KeysOnDisk, memory holds only the last documents. When they have half of OpenOptions.TailKeys keys, all data
// of them are settled: written to tables of the store, in order, and released from memory. Another goroutine does
// that, see settling. Meanwhile the keys that are being settled stay in a table of their own (older), and the keys
// of new documents go into a second one (table).
//
//	slots                       keys          facts     in the store
//	from frozen on              view.table    chunks    blocks
//	from settled up to frozen   view.older    chunks    blocks
//	before settled              disk, k       disk, p   keys and facts
//
// The tables in memory tell keys apart by their prints, and so does the disk, so a bucket is the same in all three
// places. A reader looks into all of them. A bucket on disk has no size limit: the reader takes the first
// Options.BucketCap documents, which are those that a table in memory would have taken.

// buckets looks up keys in a view, for one query. The caller closes it.
type buckets struct {
	view  *view
	most  int
	keys  []uint64    // all that will be asked for
	disk  settledKeys // nil: not needed yet
	count []uint64
}

func (b *buckets) close() error {
	if b.disk == nil {
		return nil
	}
	return b.disk.close()
}

// append appends the slots of the range that have the key, in no particular order. If the bucket is full, it
// appends BucketCap slots or more. O(1 + bucket) expected.
func (b *buckets) append(dst []uint64, key uint64, r keytable.Range) (slots []uint64, err error) {
	v, from := b.view, len(dst)
	if v.settled <= v.First && v.older == nil {
		return v.table.Append(dst, key, r), nil
	}
	if dst, err = b.within(dst, key, r); err != nil || r.First == v.First || len(dst) == from {
		return dst, err
	}
	// Slots before the range take room in the bucket first.
	b.count, err = b.within(b.count[:0], key, keytable.Range{First: v.First, Next: r.First})
	slices.Sort(dst[from:])
	return dst[:min(len(dst), from+max(b.most-len(b.count), 0))], err
}

// within appends the slots of the range, from the disk and the tables in memory until the bucket is full.
func (b *buckets) within(dst []uint64, key uint64, r keytable.Range) (slots []uint64, err error) {
	v, from := b.view, len(dst)
	if r.First < v.settled {
		if dst, err = b.appendSettled(dst, key, keytable.Range{First: r.First, Next: min(r.Next, v.settled)}); err != nil {
			return nil, err
		}
	}
	if v.older != nil && len(dst)-from < b.most && r.First < v.frozen && r.Next > v.settled {
		dst = v.older.Append(dst, key, keytable.Range{First: max(r.First, v.settled), Next: min(r.Next, v.frozen)})
	}
	if len(dst)-from < b.most && r.Next > v.frozen {
		dst = v.table.Append(dst, key, keytable.Range{First: max(r.First, v.frozen), Next: r.Next})
	}
	return dst, nil
}

// appendSettled appends the first slots of the range, up to the size of a bucket.
func (b *buckets) appendSettled(dst []uint64, key uint64, r keytable.Range) (slots []uint64, err error) {
	if b.disk == nil {
		if b.disk, err = b.view.disk.look(b.view, b.keys); err != nil {
			return nil, err
		}
	}
	return b.disk.append(dst, key, r, b.most)
}

// storedKeys looks up keys of kind k in the store.
type storedKeys struct {
	view *view
	it   *pebble.Iterator
	seek []byte
}

// look implements settledStore.
func (e *engine) look(v *view, _ []uint64) (settledKeys, error) {
	it, err := newBuckets(e, v)
	return &storedKeys{view: v, it: it}, err
}

// append implements settledKeys.
func (s *storedKeys) append(dst []uint64, key uint64, r keytable.Range, most int) ([]uint64, error) {
	s.seek = keyOf{keytable.Print(key), r.First, true}.append(s.seek[:0])
	most += len(dst)
	for ok := s.it.SeekPrefixGE(s.seek); ok && len(dst) < most; ok = s.it.Next() {
		k, err := parseKeyOf(s.it.Key())
		if err != nil {
			return nil, err
		}
		if k.slot >= r.Next {
			break
		}
		if !s.view.gone[k.slot] {
			dst = append(dst, k.slot)
		}
	}
	return dst, asDamage(s.it.Error())
}

func (s *storedKeys) close() error { return asDamage(s.it.Close()) }

func appendFacts(dst []byte, f *facts) []byte {
	dst = appendNumbers(dst, []uint64{uint64(f.time), f.digest[0], f.digest[1]})
	for _, w := range f.words {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

func parseFacts(value []byte, slot uint64, words int, f *facts) error {
	body, err := unseal(value, slot)
	if err != nil {
		return err
	}
	if len(body) != 24+4*words {
		return fmt.Errorf("%w: %d bytes", errDamaged, len(body))
	}
	f.time = int64(binary.LittleEndian.Uint64(body))
	f.digest = [2]uint64{binary.LittleEndian.Uint64(body[8:]), binary.LittleEndian.Uint64(body[16:])}
	f.read = f.read[:0]
	for i := range words {
		f.read = append(f.read, binary.LittleEndian.Uint32(body[24+4*i:]))
	}
	f.words = f.read
	return nil
}

// newBuckets returns an iterator over keys. It uses the filters of the lowest level only if the cache has
// room for them: they have nine of ten keys, and are large.
func newBuckets(e *engine, v *view) (*pebble.Iterator, error) {
	it, err := e.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyKey}, UpperBound: []byte{keyKey + 1},
		UseL6Filters: int64(v.settled-v.First)*e.filterBytes < e.cache/4*3,
	})
	return it, asDamage(err)
}

// facts reads the facts of a settled document.
func (e *engine) facts(slot uint64, words int, f *facts) (alive bool, err error) {
	value, closer, err := e.db.Get(slotKey(make([]byte, 0, 9), keyFacts, slot))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = errors.Join(parseFacts(value, slot, words, f), closer.Close())
	}
	if err != nil {
		return false, fmt.Errorf("facts of slot %d: %w", slot, asDamage(err))
	}
	return true, nil
}

func (e *engine) hasFacts(slot uint64) bool {
	_, closer, err := e.db.Get(slotKey(make([]byte, 0, 9), keyFacts, slot))
	if err != nil {
		return !errors.Is(err, pebble.ErrNotFound)
	}
	_ = closer.Close() // only releases memory
	return true
}
