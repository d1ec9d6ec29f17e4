package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
)

// mostIDs is how many bytes of ids are sorted at once: the ids of a million documents or more.
const mostIDs = 64 << 20

// idSorter writes ids to the store, sorted in runs that fit in memory. If an id came more than once,
// the store returns its last slot, since later runs override earlier ones.
type idSorter struct {
	tables
	most  int64 // bytes of memory
	bytes []byte
	ids   []extsort.Entry // the first bytes of an id; where it begins in bytes, which have its slot behind it, and its length
}

// idBytes is what an id takes beside its own bytes and its slot.
const idBytes = 16

func (s *idSorter) add(id []byte, slot uint64) error {
	var first [8]byte
	copy(first[:], id)
	from := len(s.bytes)
	s.bytes = binary.LittleEndian.AppendUint64(append(s.bytes, id...), slot)
	s.ids = append(s.ids, extsort.Entry{Key: binary.BigEndian.Uint64(first[:]), Value: uint64(from)<<32 | uint64(len(id))})
	if int64(len(s.bytes))+idBytes*int64(len(s.ids)) < s.most {
		return nil
	}
	return s.flush()
}

// flush writes all ids in memory to the store.
func (s *idSorter) flush() error {
	id := func(a extsort.Entry) []byte { return s.bytes[a.Value>>32:][:uint32(a.Value)] }
	slot := func(a extsort.Entry) uint64 {
		return binary.LittleEndian.Uint64(s.bytes[a.Value>>32+a.Value&math.MaxUint32:])
	}
	slices.SortFunc(s.ids, func(a, b extsort.Entry) int {
		if a.Key != b.Key {
			return cmp.Compare(a.Key, b.Key)
		}
		if c := bytes.Compare(id(a), id(b)); c != 0 {
			return c
		}
		return cmp.Compare(slot(a), slot(b))
	})
	var key, value []byte
	for i, at := range s.ids {
		if i+1 < len(s.ids) && bytes.Equal(id(at), id(s.ids[i+1])) {
			continue // a later document has the id
		}
		if err := s.room(); err != nil {
			return err
		}
		key = append(append(key[:0], keyID), id(at)...)
		value = appendSlotOf(value[:0], id(at), slot(at))
		if err := s.set(key, value); err != nil {
			return err
		}
	}
	s.bytes, s.ids = s.bytes[:0], s.ids[:0]
	return s.handOver()
}

// keySorter sorts the keys of documents, and writes the keys that documents get. Entries are
//
//	keys     print            slot<<1, or with 1 for the key of the digest
//	digests  first 64 bits    32 more bits, slot in 32 bits
//
// Digests have 128 bits, but 96 are enough here: the probability that two of a billion different
// documents agree in them is 10⁻¹¹.
type keySorter struct {
	s             *diskStore
	threads       int
	full          uint64 // bytes of a table
	space         *scratch.Space
	keys, digests *extsort.Sorter
	toKeys        *extsort.Appender
	toDigests     *extsort.Appender
}

func newKeySorter(s *diskStore, memory int64, threads int, full uint64) (k *keySorter, err error) {
	k = &keySorter{s: s, threads: threads, full: full, space: scratch.New(scratch.Options{FS: s.folder.fs, Threads: threads, Memory: memory})}
	if err := k.space.Keep(s.folder.path(sortDir)); err != nil {
		return nil, err
	}
	sorter := func(name string, share int64, bits int) (*extsort.Sorter, error) {
		o := k.space.Sorting(name, share, bits)
		o.Temporary = true
		return extsort.New(o)
	}
	if k.keys, err = sorter("keys", 2, keytable.PrintBits); err == nil {
		k.digests, err = sorter("digests", 4, 64)
	}
	if err != nil {
		return nil, errors.Join(err, k.close())
	}
	k.toKeys, k.toDigests = k.keys.Appender(), k.digests.Appender()
	return k, nil
}

func (k *keySorter) add(a *arrival, slot uint64) error {
	for i, key := range a.keys {
		value := slot << 1
		if i == a.ways-1 {
			value |= 1
		}
		if err := k.toKeys.Add(keytable.Print(key), value); err != nil {
			return err
		}
	}
	if a.ways == 0 {
		return nil
	}
	return k.toDigests.Add(a.digest[0], a.digest[1]>>32<<32|slot)
}

// write writes the keys of documents that are not dead: for each bucket the first most. A document
// that equals an earlier one gets only the key of its digest, see Index.keysOf.
func (k *keySorter) write(ctx context.Context, dead bitset.Set[uint64], next uint64, most int) (err error) {
	defer func() { err = errors.Join(err, k.close()) }()
	if err := errors.Join(k.toKeys.Flush(), k.toDigests.Flush()); err != nil {
		return err
	}
	copies, err := k.copies(ctx, dead, next)
	if err != nil {
		return err
	}
	sorted, err := k.keys.Sort(ctx)
	if err != nil {
		return err
	}
	// Each goroutine writes the keys of one range of prints.
	readers := make([]*extsort.Reader, k.threads)
	bound := func(i int) uint64 { return uint64(i) << keytable.PrintBits / uint64(k.threads) }
	for i := range readers {
		readers[i] = sorted.ReaderFrom(bound(i))
	}
	errs := make([]error, k.threads)
	var writers sync.WaitGroup
	for i, r := range readers {
		writers.Go(func() {
			t := tables{folder: k.s.folder, engine: k.s.engine, name: fmt.Sprintf("keys-%d-", i), full: k.full, plain: true}
			w := keyWriter{tables: t, dead: dead, copies: copies, most: most}
			errs[i] = errors.Join(w.write(ctx, r, bound(i+1)), r.Close())
		})
	}
	writers.Wait()
	return errors.Join(append(errs, sorted.Close())...)
}

// copies returns the documents that equal an earlier document.
func (k *keySorter) copies(ctx context.Context, dead bitset.Set[uint64], next uint64) (copies bitset.Set[uint64], err error) {
	sorted, err := k.digests.Sort(ctx)
	if err != nil {
		return nil, err
	}
	copies = bitset.New[uint64](int(next))
	r := sorted.Reader()
	var last extsort.Entry // of a living document
	first := true
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		slot := uint64(uint32(e.Value))
		if dead.Has(slot) {
			continue
		}
		if !first && e.Key == last.Key && e.Value>>32 == last.Value>>32 {
			copies.Add(slot)
		}
		last, first = e, false
	}
	return copies, errors.Join(r.Err(), r.Close(), sorted.Close())
}

// close removes the sorted files.
func (k *keySorter) close() (err error) {
	for _, sorter := range []*extsort.Sorter{k.keys, k.digests} {
		if sorter != nil {
			err = errors.Join(err, sorter.Close())
		}
	}
	k.keys, k.digests = nil, nil
	return errors.Join(err, k.s.folder.fs.RemoveAll(k.s.folder.path(sortDir)))
}

// keyWriter writes the keys of a range of prints.
type keyWriter struct {
	tables
	dead, copies bitset.Set[uint64]
	most         int // of a bucket
}

func (w *keyWriter) write(ctx context.Context, r *extsort.Reader, below uint64) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, w.abort())
		}
	}()
	var key []byte
	var last keyOf
	n := 0 // keys of the bucket
	for i := 0; ; i++ {
		e, ok := r.Next()
		if !ok || e.Key >= below {
			break
		}
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := keyOf{print: e.Key, slot: e.Value >> 1, has: true}
		if w.dead.Has(k.slot) || e.Value&1 == 0 && w.copies.Has(k.slot) {
			continue
		}
		if k.print != last.print {
			n = 0
		}
		if n == w.most || k == last {
			continue
		}
		n++
		last = k
		key = k.append(key[:0])
		if err := w.put(key, nil); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	return w.handOver()
}
