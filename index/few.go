package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
)

// An index that is opened for a few searches (OpenOptions.Few) has no table of keys in memory: filling it takes 1.6 s of
// processors for a million documents, and a query asks for 17 of 17 million keys. Each search reads blocks instead, in
// 0.36 s, with filters 0.08 s, of which most is page faults of what is read:
//
//	of each document of each block that may have one of the keys (block.go), on all processors:
//	    of each key:  is its bit in a small set?  →  is it one of the keys?  →  (print, slot, digest)
//	of the documents found:  which are copies of an earlier one, and have no other key in the table?
//
// The buckets are those of the table that load would fill. After fewSearches it pays, and is filled.

// fewSearches is how many searches read the blocks: to fill the table takes as long as that many without filters.
const fewSearches = 6

// few is the store of the documents of such an index.
type few struct {
	x       *collection
	engine  *engine
	threads int
	first   uint64
	next    uint64
	dead    bitset.Set[uint64] // documents with a mark of their own, from first on

	asking sync.Mutex
	known  map[uint64][]foundKey // what was found, by prints
	held   map[uint64]facts      // of the documents found

	table lateTable
}

// openFew makes the view of an index with keys in memory, and reads no block. It does nothing if the state does not say how
// many documents are alive.
func openFew(w *writer, a *applier, threads int, state *lines) (done bool, err error) {
	e := a.queue.engine
	first, next, clock, err := readWindow(e.db)
	if err != nil || state == nil || state.get("whole") != "true" || state.number("first") != first || state.number("next") != next {
		return false, err
	}
	if err := fits(w.collection, next-first); err != nil {
		return false, err
	}
	s := &few{x: w.collection, engine: e, threads: threads, first: first, next: next, known: map[uint64][]foundKey{}, held: map[uint64]facts{}, dead: bitset.New[uint64](int(next - first))}
	err = e.each(keyDead, first, next, func(slot uint64, value []byte) error {
		s.dead.Add(slot - first)
		_, err := unseal(value, slot)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("index: marks of dead slots: %w", err)
	}
	s.table.fill = func() error { return load(w, a, nil, threads) }
	w.filling = &s.table
	w.view.Store(&view{
		Range: keytable.Range{First: first, Next: next}, base: next >> chunkBits, table: keytable.New(w.options.BucketCap), words: w.judge.words,
		settled: next, frozen: next, disk: s,
	})
	w.window.clock.Store(clock)
	w.counts.live.Store(int64(state.number("documents")))
	return true, nil
}

// viewFor returns the view for a search. It fills the table if the search compares all documents, or if there were many.
func (x *collection) viewFor(all bool) (*view, error) {
	s := x.filling
	if s == nil || !all && s.searches.Add(1) <= fewSearches {
		return x.view.Load(), nil
	}
	s.filling.Lock()
	defer s.filling.Unlock()
	if s.fill != nil {
		if err := s.fill(); errors.Is(err, ErrMemory) && !all {
			return x.view.Load(), nil
		} else if err != nil {
			return nil, err
		}
		s.fill = nil
	}
	return x.view.Load(), nil
}

// A blockDoc is a document in a block.
type blockDoc struct {
	slot   uint64
	time   int64
	digest [2]uint64
	words  []byte // 4 bytes each
	keys   []byte // 8 bytes each
}

// living calls visit for the living documents of a range, in order; what it gets is valid during the call.
func (s *few) living(r keytable.Range, visit func(d *blockDoc)) (err error) {
	it, err := s.engine.ofKind(keyBlock)
	if err != nil {
		return asDamage(err)
	}
	defer func() { err = errors.Join(err, asDamage(it.Close())) }()
	want := r.First
	ok := it.SeekGE(slotKey(nil, keyBlock, want))
	if !ok || !bytes.Equal(it.Key(), slotKey(nil, keyBlock, want)) { // seldom: no block begins there
		ok = it.SeekLT(slotKey(nil, keyBlock, want)) || it.Next()
	}
	for ok {
		start, err := parseSlotKey(it.Key())
		if err != nil {
			return err
		}
		if start > want {
			break
		}
		value, err := it.ValueAndErr()
		if err == nil {
			value, err = unseal(value, start)
		}
		n := 0
		if err == nil {
			n, err = eachOfBlock(value, start, s.x.judge.words, func(d *blockDoc) {
				if d.slot >= r.First && d.slot < r.Next && !s.dead.Has(d.slot-s.first) {
					visit(d)
				}
			})
		}
		if err != nil {
			return fmt.Errorf("index: block of slot %d: %w", start, asDamage(err))
		}
		if want = max(want, start+uint64(n)); want >= r.Next {
			return nil // a step further would read another block
		}
		ok = it.Next()
	}
	return fmt.Errorf("index: block of slot %d: %w: it is missing", want, cmp.Or(asDamage(it.Error()), errDamaged))
}

// eachOfBlock is parseBlock for a reader that wants little of most documents: it copies nothing, and leaves out those
// that were dead when the block was written.
func eachOfBlock(value []byte, start uint64, words int, visit func(d *blockDoc)) (n int, err error) {
	cut := fmt.Errorf("%w: block is cut", errDamaged)
	docs, w, at, err := blockHead(value)
	if err != nil || w != words {
		return 0, cmp.Or(err, cut)
	}
	var d blockDoc
	for i := range docs {
		entry := value[at:]
		size := 25 + 4*words
		if len(entry) < size+1 {
			return 0, cut
		}
		keys, k := binary.Uvarint(entry[size:])
		if k <= 0 || keys > uint64(len(entry)-size-k)/8 {
			return 0, cut
		}
		d.words, d.keys = entry[25:size], entry[size+k:size+k+8*int(keys)]
		at += size + k + len(d.keys)
		if entry[0]&flagDead != 0 {
			continue
		}
		d.slot, d.time = start+uint64(i), int64(binary.LittleEndian.Uint64(entry[1:]))
		d.digest = [2]uint64{binary.LittleEndian.Uint64(entry[9:]), binary.LittleEndian.Uint64(entry[17:])}
		visit(&d)
	}
	if at != len(value) {
		return 0, cut
	}
	return docs, nil
}

// facts implements settledStore.
func (s *few) facts(slot uint64, _ int, f *facts) (alive bool, err error) {
	s.asking.Lock()
	known, alive := s.held[slot]
	s.asking.Unlock()
	if !alive {
		err = s.living(keytable.Range{First: slot, Next: slot + 1}, func(d *blockDoc) { known, alive = d.facts(), true })
	}
	f.time, f.digest, f.words = known.time, known.digest, known.words
	return alive, err
}

// facts returns a copy of what is not keys.
func (d *blockDoc) facts() facts {
	f := facts{time: d.time, digest: d.digest}
	for at := 0; at < len(d.words); at += 4 {
		f.words = append(f.words, binary.LittleEndian.Uint32(d.words[at:]))
	}
	return f
}

// hasFacts implements settledStore.
func (s *few) hasFacts(slot uint64) bool {
	alive, err := s.facts(slot, s.x.judge.words, &facts{})
	return alive || err != nil
}

// look implements settledStore.
func (s *few) look(_ *view, keys []uint64) (settledKeys, error) {
	found, err := s.find(keys)
	if err != nil {
		return nil, err
	}
	ways := s.x.options.Recipe.Keys() + 1
	if !s.x.window.expires() {
		if found, err = s.withoutCopies(found, ways); err != nil {
			return nil, err
		}
	}
	buckets := foundKeys{}
	for _, h := range found {
		buckets[h.print] = append(buckets[h.print], h.slot)
	}
	for print, slots := range buckets {
		buckets[print] = slices.Compact(slots) // of two keys of a document that count as one
	}
	return buckets, nil
}

// withoutCopies removes what a copy of an earlier document does not have in the table: all keys but that of its digest. See
// writer.keysOf.
func (s *few) withoutCopies(found []foundKey, ways int) ([]foundKey, error) {
	var digests []uint64
	for _, h := range found {
		if h.at != ways-1 {
			digests = append(digests, digestKey(h.digest))
		}
	}
	if len(digests) == 0 {
		return found, nil
	}
	equal, err := s.find(digests)
	if err != nil {
		return nil, err
	}
	original := map[[2]uint64]uint64{} // the first slot of a digest
	for _, h := range equal {
		if _, has := original[h.digest]; !has && h.at == ways-1 {
			original[h.digest] = h.slot
		}
	}
	return slices.DeleteFunc(found, func(h foundKey) bool { return h.at != ways-1 && original[h.digest] < h.slot }), nil
}

// A foundKey is a key of a document, number at of its keys.
type foundKey struct {
	print, slot uint64
	at          int
	digest      [2]uint64
}

// find returns the places where documents have one of the keys, in the order of slots. What was asked before is known.
func (s *few) find(keys []uint64) ([]foundKey, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	var unknown []uint64
	for _, key := range keys {
		if _, has := s.known[keytable.Print(key)]; !has {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		found, err := s.read(unknown)
		if err != nil {
			return nil, err
		}
		for _, key := range unknown {
			s.known[keytable.Print(key)] = nil
		}
		for _, h := range found {
			s.known[h.print] = append(s.known[h.print], h)
		}
	}
	var found []foundKey
	seen := make(map[uint64]bool, len(keys))
	for _, key := range keys {
		if print := keytable.Print(key); !seen[print] {
			seen[print] = true
			found = append(found, s.known[print]...)
		}
	}
	sorting.Stable(found, func(a, b foundKey) int { return cmp.Compare(a.slot, b.slot) })
	return found, nil
}

// read reads the blocks that may have one of the keys.
func (s *few) read(keys []uint64) ([]foundKey, error) {
	chunks := chunksOf(s.first, s.next)
	wanted := newKeySet(keys)
	parts, errs := make([][]foundKey, len(chunks)), make([]error, len(chunks))
	held := make([]map[uint64]facts, len(chunks))
	var readers sync.WaitGroup
	var next atomic.Int64
	for range s.threads {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(chunks)); i = next.Add(1) - 1 {
				held[i] = map[uint64]facts{}
				bound := s.newPerKey()
				errs[i] = toRead(s.engine, chunks[i], keys, func(r keytable.Range) error {
					return s.living(r, func(d *blockDoc) {
						n := len(parts[i])
						if parts[i] = wanted.appendFound(parts[i], d, bound); len(parts[i]) > n {
							held[i][d.slot] = d.facts()
						}
					})
				})
			}
		})
	}
	readers.Wait()
	for _, h := range held {
		maps.Copy(s.held, h)
	}
	return slices.Concat(parts...), errors.Join(errs...)
}

// chunksAtOnce is how many chunks one goroutine reads without asking for more.
const chunksAtOnce = 16

// chunksOf cuts the slots where blocks end.
func chunksOf(first, next uint64) (parts []keytable.Range) {
	for first < next {
		end := min(first&^(chunkDocs-1)+chunksAtOnce*chunkDocs, next)
		parts = append(parts, keytable.Range{First: first, Next: end})
		first = end
	}
	return parts
}

// A keySet is a set of keys, by their prints.
type keySet struct {
	bits   []uint64 // by the first bits of a key, which the print has too
	shift  int
	prints map[uint64]bool
}

func newKeySet(keys []uint64) *keySet {
	// The shard is all that a print has of a key's upper bits, so more bits come from its lower half.
	s := &keySet{prints: make(map[uint64]bool, len(keys))}
	n := bits.Len(uint(len(keys)*64)) + 6
	s.bits, s.shift = make([]uint64, 1<<(n-6)), 64-n
	for _, key := range keys {
		p := keytable.Print(key)
		s.prints[p] = true
		h := p * hashing.Key3 >> s.shift
		s.bits[h/64] |= 1 << (h % 64)
	}
	return s
}

func (s *keySet) may(key uint64) bool {
	h := keytable.Print(key) * hashing.Key3 >> s.shift
	return s.bits[h/64]>>(h%64)&1 != 0
}

// appendFound appends the keys of a document that the set has, except those of which enough documents were found.
func (s *keySet) appendFound(dst []foundKey, d *blockDoc, f *perKey) []foundKey {
	for at := 0; at < len(d.keys); at += 8 {
		if key := binary.LittleEndian.Uint64(d.keys[at:]); s.may(key) && s.has(key) && f.takes(keytable.Print(key), d, at/8) {
			dst = append(dst, foundKey{keytable.Print(key), d.slot, at / 8, d.digest})
		}
	}
	return dst
}

func (s *keySet) has(key uint64) bool { return s.prints[keytable.Print(key)] }

// perKey bounds what is held of a key that many documents have. A bucket takes the first documents, those of the rest of the
// slots come later, and of copies it takes one: a second one of the same chunk goes without the key, whatever there was
// before. So a chunk needs no more documents than a bucket has, and of equal ones the first.
type perKey struct {
	most, ways int
	expires    bool                // then every copy has all keys
	begun      map[uint64]*heldKey // by prints
}

type heldKey struct {
	documents int
	last      uint64 // slot
	digests   map[[2]uint64]bool
}

func (s *few) newPerKey() *perKey {
	return &perKey{s.x.options.BucketCap, s.x.options.Recipe.Keys() + 1, s.x.window.expires(), map[uint64]*heldKey{}}
}

// takes tells whether key number at of a document, which comes after all others of its chunk, is needed.
func (f *perKey) takes(print uint64, d *blockDoc, at int) bool {
	b := f.begun[print]
	if b == nil {
		b = &heldKey{digests: map[[2]uint64]bool{}}
		f.begun[print] = b
	} else if b.last == d.slot {
		return true // two of its keys count as one
	}
	if b.documents == f.most {
		return false
	}
	if !f.expires && at != f.ways-1 {
		if b.digests[d.digest] {
			return false
		}
		b.digests[d.digest] = true
	}
	b.documents++
	b.last = d.slot
	return true
}

// foundKeys are the slots of each print that was asked for, ascending.
type foundKeys map[uint64][]uint64

// append implements settledKeys.
func (f foundKeys) append(dst []uint64, key uint64, r keytable.Range, most int) ([]uint64, error) {
	slots := f[keytable.Print(key)]
	slots = slots[:min(len(slots), most)]
	from, _ := slices.BinarySearch(slots, r.First)
	to, _ := slices.BinarySearch(slots, r.Next)
	return append(dst, slots[from:to]...), nil
}

func (foundKeys) close() error { return nil }
