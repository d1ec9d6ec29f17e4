package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/index/internal/table"
)

// With KeysOnDisk memory holds the last documents only. When they have OpenOptions.TailKeys keys, all
// that memory holds of them is settled: written to tables of the store, in order, and let go.
//
//	memory: slots from settled on           table.Table, chunks; in the store their blocks
//	disk:   slots before that               k print slot → nothing    the keys
//	                                        p slot → facts            time, digest, words
//	        f                               settled, trimmed, living documents
//
// A print is what the table in memory tells keys apart by, so that both places have the same
// buckets. A reader looks into both. Of a bucket on disk, where there is no room to run out, it
// takes the first Options.BucketCap documents, which are those that the table would have.
//
// Pebble adds all tables of a settling at once or none of them, and f is in one. A process
// that ends before finds the blocks, and has the documents in memory again.
const (
	keyKey   = 'k'
	keyFacts = 'p'
	keyTail  = 'f'
)

const (
	printSize  = (table.PrintBits + 7) / 8
	prefixSize = 1 + printSize // of a key of kind k: what Pebble's Bloom filters know
	keySize    = prefixSize + 8
)

// DefaultTailKeys is how many keys memory holds before documents are settled: those of 246,000 of
// the default recipe.
const DefaultTailKeys = 1 << 22

// keyOf is a key of a document that is settled: it gets it, or loses it.
type keyOf struct {
	print, slot uint64
	has         bool
}

func (k keyOf) append(dst []byte) []byte {
	var print [8]byte
	binary.BigEndian.PutUint64(print[:], k.print)
	return binary.BigEndian.AppendUint64(append(append(dst, keyKey), print[8-printSize:]...), k.slot)
}

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

// bucketOrder is the order of bytes. Pebble's filters know keys of kind k without their slots.
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

// buckets looks up keys in a view, for one query. Close it.
type buckets struct {
	view  *view
	most  int
	it    *pebble.Iterator // nil: not needed yet
	seek  []byte
	count []uint64
}

func (b *buckets) close() error {
	if b.it == nil {
		return nil
	}
	return asDamage(b.it.Close())
}

// append appends the slots of the range that have the key, in no order, BucketCap or more if the
// bucket is full. O(1) expected, and O(bucket).
func (b *buckets) append(dst []uint64, key uint64, r table.Range) (slots []uint64, err error) {
	v, from := b.view, len(dst)
	if v.settled <= v.First {
		return v.table.Append(dst, key, r), nil
	}
	if r.First < v.settled {
		if dst, err = b.appendSettled(dst, key, table.Range{First: r.First, Next: min(r.Next, v.settled)}); err != nil {
			return nil, err
		}
	}
	if len(dst)-from < b.most && r.Next > v.settled {
		dst = v.table.Append(dst, key, table.Range{First: max(r.First, v.settled), Next: r.Next})
	}
	if r.First == v.First || len(dst) == from {
		return dst, nil
	}
	// What stands in the bucket before the range has taken the room.
	b.count, err = b.appendSettled(b.count[:0], key, table.Range{First: v.First, Next: min(r.First, v.settled)})
	if r.First > v.settled {
		b.count = v.table.Append(b.count, key, table.Range{First: v.settled, Next: r.First})
	}
	slices.Sort(dst[from:])
	return dst[:min(len(dst), from+max(b.most-len(b.count), 0))], err
}

// appendSettled appends the first slots of the range, as many as a bucket takes.
func (b *buckets) appendSettled(dst []uint64, key uint64, r table.Range) (slots []uint64, err error) {
	if b.it == nil {
		if b.it, err = b.view.disk.newBuckets(b.view); err != nil {
			return nil, err
		}
	}
	b.seek = keyOf{table.Print(key), r.First, true}.append(b.seek[:0])
	most := len(dst) + b.most
	for ok := b.it.SeekPrefixGE(b.seek); ok && len(dst) < most; ok = b.it.Next() {
		k, err := parseKeyOf(b.it.Key())
		if err != nil {
			return nil, err
		}
		if k.slot >= r.Next {
			break
		}
		if !b.view.gone[k.slot] {
			dst = append(dst, k.slot)
		}
	}
	return dst, asDamage(b.it.Error())
}

// newBuckets returns an iterator over keys. Filters of the lowest level are asked if there is
// room for them: they know nine of ten keys, and are large.
func (s *disk) newBuckets(v *view) (*pebble.Iterator, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyKey}, UpperBound: []byte{keyKey + 1},
		UseL6Filters: int64(v.settled-v.First)*s.filterBytes < s.cache/4*3,
	})
	return it, asDamage(err)
}

// facts reads those of a settled document.
func (s *disk) facts(slot uint64, words int, f *facts) (alive bool, err error) {
	value, closer, err := s.db.Get(slotKey(make([]byte, 0, 9), keyFacts, slot))
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

func (s *disk) hasFacts(slot uint64) bool {
	_, closer, err := s.db.Get(slotKey(make([]byte, 0, 9), keyFacts, slot))
	if err != nil {
		return !errors.Is(err, pebble.ErrNotFound)
	}
	_ = closer.Close() // it only gives back memory
	return true
}

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

// putSettled stores what a batch changes of what is settled.
func (s *disk) putSettled(b *pebble.Batch, x *Index) (err error) {
	if !s.onDisk {
		return nil
	}
	for _, k := range x.keyed {
		if key := k.append(nil); k.has {
			err = errors.Join(err, b.Set(key, nil, nil))
		} else {
			err = errors.Join(err, b.Delete(key, nil))
		}
	}
	return errors.Join(err, b.Set([]byte{keyTail}, s.tail(x, x.growing.settled, s.trimmed), nil))
}

func (s *disk) tail(x *Index, settled, trimmed uint64) []byte {
	return sealed(appendNumbers(nil, []uint64{settled, trimmed, uint64(x.counts.live.Load())}), 0)
}

// readTail reads how far documents are settled.
func (s *disk) readTail() (settled, trimmed uint64, live int64, err error) {
	value, closer, err := s.db.Get([]byte{keyTail})
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, 0, 0, nil
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("index: settled documents: %w", asDamage(err))
	}
	body, err := unseal(value, 0)
	if err == nil && len(body) != 24 {
		err = errDamaged
	}
	if err != nil {
		return 0, 0, 0, errors.Join(fmt.Errorf("index: settled documents: %w", err), closer.Close())
	}
	n := numbers(nil, body)
	return n[0], n[1], int64(n[2]), closer.Close()
}

// keyBytes returns the disk that keys and facts take.
func (s *disk) keyBytes() (n int64) {
	if !s.onDisk || s.failed.Load() != nil {
		return 0
	}
	for _, kind := range []byte{keyKey, keyFacts} {
		bytes, err := s.db.EstimateDiskUsage([]byte{kind}, []byte{kind + 1})
		if err == nil {
			n += int64(bytes)
		}
	}
	return n
}

func (s *disk) settle(x *Index, all bool) error {
	v := x.view.Load()
	if !s.onDisk || v.Next == v.settled || !all && v.table.Len() < s.tailKeys {
		return nil
	}
	// What is settled must have been written before, and nothing of it may be in the way.
	if err := s.do(s.db.Flush); err != nil {
		return err
	}
	expired, err := s.expiredKeys(x, v)
	if err != nil {
		return err
	}
	w := &settling{tables{s: s, full: tableFile, plain: true}}
	if err := w.write(x, v, expired); err != nil {
		return errors.Join(err, w.abort())
	}
	if err := w.ingest(); err != nil {
		return err
	}
	s.trimmed = v.First
	shown := *v
	shown.settled, shown.base, shown.chunks, shown.table = v.Next, v.Next>>chunkBits, nil, table.New(x.options.BucketCap)
	if v.Next%chunkDocs != 0 {
		shown.chunks = []*chunk{v.chunk(v.Next)}
	}
	x.view.Store(&shown)
	return nil
}

// expiredKeys returns the keys of settled documents that have expired since documents were settled last.
func (s *disk) expiredKeys(x *Index, v *view) (keys []keyOf, err error) {
	old := *v
	old.First = s.trimmed
	read := x.finder.read(&old)
	for slot := s.trimmed; slot < min(v.First, v.settled); slot++ {
		if !old.has(slot) {
			continue
		}
		r, err := read(slot)
		if err != nil {
			return nil, err
		}
		a, err := x.finder.again(&old, slot, r)
		if err != nil {
			return nil, err
		}
		for _, key := range a.keys {
			keys = append(keys, keyOf{table.Print(key), slot, false})
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys, nil
}

// settling writes the tables with which documents are settled.
type settling struct{ tables }

func (w *settling) write(x *Index, v *view, expired []keyOf) error {
	s := w.s
	err := cmp.Or(
		w.remove(keyRecord, s.trimmed, v.First),
		w.set([]byte{keyTail}, s.tail(x, v.Next, v.First)),
		w.end(),
		w.keys(v, expired),
		w.end(),
		w.remove(keyFacts, s.trimmed, v.First),
		w.facts(v),
		w.end(),
	)
	if err != nil {
		return err
	}
	from := max(v.settled, s.trimmed) &^ (chunkDocs - 1)
	return cmp.Or(w.remove(keyBlock, from, v.Next), w.remove(keyDead, from, v.Next), w.end())
}

// keys writes the keys of what memory holds, and removes those of what has expired.
func (w *settling) keys(v *view, expired []keyOf) error {
	var key []byte
	var last keyOf
	begun := false
	put := func(k keyOf) error {
		if begun && k == last {
			return nil // two keys of a document have one print
		}
		last, begun = k, true
		if err := w.room(); err != nil {
			return err
		}
		if key = k.append(key[:0]); k.has {
			return w.set(key, nil)
		}
		w.since += len(key)
		return w.w.Delete(key)
	}
	err := v.table.Each(table.Range{First: max(v.First, v.settled), Next: v.Next}, func(print, slot uint64) error {
		k := keyOf{print, slot, true}
		for len(expired) > 0 && compareKeys(expired[0], k) < 0 {
			if err := put(expired[0]); err != nil {
				return err
			}
			expired = expired[1:]
		}
		return put(k)
	})
	for _, k := range expired {
		err = cmp.Or(err, put(k))
	}
	return err
}

func (w *settling) facts(v *view) error {
	var f facts
	var key, value []byte
	for slot := max(v.First, v.settled); slot < v.Next; slot++ {
		if alive, err := v.facts(slot, &f); err != nil || !alive {
			if err != nil {
				return err
			}
			continue
		}
		key, value = slotKey(key[:0], keyFacts, slot), appendFacts(value[:0], &f)
		if err := w.set(key, sealed(value, slot)); err != nil {
			return err
		}
	}
	return nil
}
