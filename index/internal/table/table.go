// Package table finds documents by the keys of their signatures, in memory: a hash table
// from keys to slots, the numbers that documents have in the order of their arrival.
//
// One goroutine at a time writes; any number read meanwhile, without a lock. Documents
// leave by moving the Range: entries of slots outside it are dead, and their places are
// taken by later ones.
//
// # How it is laid out
//
//	key    63 … 52   51 … 32   31 … 0
//	       shard     (unused)  print
//
//	entry  print<<32 | lowest 32 bits of the slot;  0: empty
//
// A shard is one array with open addressing and linear probing. A print's home is
// print·n>>32, so entries stand in the order of their prints, and a larger array is filled
// from front to back. Equal prints stand in one run: that is a bucket. Keys of one shard
// with equal prints are taken for the same: of n entries a look-up meets a stranger with
// probability n/2⁴⁴, and candidates are verified.
//
// An entry costs 8 bytes; shards are filled to between 50 and 80 percent.
package table

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"
)

const (
	shardBits = 12 // small enough to be filled anew in about a millisecond at 100 million documents
	shards    = 1 << shardBits

	mostFull   = 80 // percent of a shard that is not empty
	afterwards = 50 // percent of it that is live when it was filled anew: a document then moves each key about twice
	reserved   = 68 // percent of a shard that is expected to be live when room was made for it
	least      = 8  // entries of a shard
)

// A Range is the slots that are live, First ≤ slot < Next. There must be fewer than 2³².
type Range struct{ First, Next uint64 }

// slot returns the slot in the range of which an entry holds the lowest bits.
func (r Range) slot(entry uint64) (slot uint64, live bool) {
	offset := uint64(uint32(entry) - uint32(r.First))
	return r.First + offset, offset < r.Next-r.First
}

// A Table is made by New.
type Table struct {
	most   int // entries of a bucket
	shards [shards]shard
}

type shard struct {
	entries atomic.Pointer[[]uint64]
	used    int // entries that are not empty; the writer's
}

// New returns an empty table whose buckets hold at most so many documents each.
func New(most int) *Table { return &Table{most: most} }

// ReservedBytes returns what Bytes is at least of a table after Reserve.
func ReservedBytes(keys int) int64 { return int64(reservedFor(keys)) * shards * 8 }

// GrownBytes returns what Bytes is at most of a table that so many keys were inserted into.
func GrownBytes(keys int) int64 { return int64(keys) * 8 * 100 / afterwards }

// reservedFor is how many entries a shard has room for.
func reservedFor(keys int) int { return keys / shards * 100 / reserved }

// Reserve makes room for so many keys, evenly spread, in shards that have less. Nobody else may use
// the table.
func (t *Table) Reserve(keys int) {
	n := reservedFor(keys)
	for i := range t.shards {
		s := &t.shards[i]
		old := s.entries.Load()
		if n < least || old != nil && len(*old) >= n {
			continue
		}
		var entries []uint64
		if old != nil {
			entries = *old
		}
		s.used = 0
		made := make([]uint64, n)
		for _, e := range entries {
			if e == 0 {
				continue
			}
			i := home(e>>32, n)
			for made[i] != 0 {
				if i++; i == n {
					i = 0
				}
			}
			made[i] = e
			s.used++
		}
		s.entries.Store(&made)
	}
}

// Shard returns the number of the shard of a key, below Shards. Writers of different shards
// may run at the same time.
func Shard(key uint64) int { return int(key >> (64 - shardBits)) }

// Shards is the number of shards.
const Shards = shards

func printOf(key uint64) uint64 { return uint64(uint32(key) | 1) } // never empty

func home(print uint64, n int) int { return int(print * uint64(n) >> 32) }

// Touch brings the entries that Append will read into the cache, for all keys at once: a miss
// costs more than all the rest, and independent misses overlap. The result has no meaning.
func (t *Table) Touch(keys []uint64) (sum uint64) {
	for _, key := range keys {
		if p := t.shards[Shard(key)].entries.Load(); p != nil {
			sum += atomic.LoadUint64(&(*p)[home(printOf(key), len(*p))])
		}
	}
	return sum
}

// Append appends the slots of the range that have the key, in no order. O(1) expected, and
// O(bucket).
func (t *Table) Append(dst []uint64, key uint64, r Range) []uint64 {
	p := t.shards[Shard(key)].entries.Load()
	if p == nil {
		return dst
	}
	entries, print := *p, printOf(key)
	for i := home(print, len(entries)); ; {
		e := atomic.LoadUint64(&entries[i])
		if e == 0 {
			return dst
		}
		if e>>32 == print {
			if slot, live := r.slot(e); live {
				dst = append(dst, slot)
			}
		}
		if i++; i == len(entries) {
			i = 0
		}
	}
}

// Insert gives a slot, which need not be in the range yet, the key. It returns false, and
// does nothing, when the bucket is full. O(1) expected, and O(bucket).
func (t *Table) Insert(key, slot uint64, r Range) bool {
	s := &t.shards[Shard(key)]
	r.Next = max(r.Next, slot+1)
	p := s.entries.Load()
	if p == nil || (s.used+1)*100 > len(*p)*mostFull {
		p = s.fill(r)
	}
	entries, print := *p, printOf(key)
	free, bucket := -1, 0
	i := home(print, len(entries))
	for ; entries[i] != 0; i++ {
		_, live := r.slot(entries[i])
		switch {
		case live && entries[i]>>32 == print:
			if bucket++; bucket >= t.most {
				return false
			}
		case !live && free < 0:
			free = i
		}
		if i == len(entries)-1 {
			i = -1
		}
	}
	if free < 0 {
		free = i
		s.used++
	}
	atomic.StoreUint64(&entries[free], print<<32|uint64(uint32(slot)))
	return true
}

// Remove takes the key from a slot of the range, if it has it.
func (t *Table) Remove(key, slot uint64, r Range) {
	p := t.shards[Shard(key)].entries.Load()
	if p == nil {
		return
	}
	entries, print := *p, printOf(key)
	for i := home(print, len(entries)); entries[i] != 0; {
		if entries[i] == print<<32|uint64(uint32(slot)) {
			atomic.StoreUint64(&entries[i], print<<32|uint64(uint32(r.First-1))) // dead, not empty: others stand behind it
			return
		}
		if i++; i == len(entries) {
			i = 0
		}
	}
}

// PrintBits is the size of a print of a key.
const PrintBits = shardBits + 32

// Print returns the bits by which the table tells keys apart: keys of equal prints share a
// bucket.
func Print(key uint64) uint64 { return uint64(Shard(key))<<32 | printOf(key) }

// Each calls what for each entry of the range, with the print of its key, in the order of prints
// and slots, until that returns an error. O(n log n) for the n entries of a shard.
func (t *Table) Each(r Range, what func(print, slot uint64) error) error {
	var found [][2]uint64
	for i := range t.shards {
		p := t.shards[i].entries.Load()
		if p == nil {
			continue
		}
		found = found[:0]
		for j := range *p {
			e := atomic.LoadUint64(&(*p)[j])
			if slot, live := r.slot(e); e != 0 && live {
				found = append(found, [2]uint64{uint64(i)<<32 | e>>32, slot})
			}
		}
		slices.SortFunc(found, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		for _, f := range found {
			if err := what(f[0], f[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill copies the live entries into an array of suitable size, and publishes that. Readers of
// the old array miss only entries beyond the range that they know.
func (s *shard) fill(r Range) *[]uint64 {
	var old []uint64
	if p := s.entries.Load(); p != nil {
		old = *p
	}
	live := 0
	for _, e := range old {
		if e != 0 {
			if _, ok := r.slot(e); ok {
				live++
			}
		}
	}
	entries := make([]uint64, max((live+1)*100/afterwards, least))
	for _, e := range old {
		if e == 0 {
			continue
		}
		if _, ok := r.slot(e); !ok {
			continue
		}
		i := home(e>>32, len(entries))
		for entries[i] != 0 {
			if i++; i == len(entries) {
				i = 0
			}
		}
		entries[i] = e
	}
	s.used = live
	s.entries.Store(&entries)
	return &entries
}

// Len returns the number of entries, the dead ones that were not taken over included. It is the
// writer's.
func (t *Table) Len() (n int) {
	for i := range t.shards {
		n += t.shards[i].used
	}
	return n
}

// Bytes returns the memory of the table.
func (t *Table) Bytes() (n int64) {
	for i := range t.shards {
		if p := t.shards[i].entries.Load(); p != nil {
			n += int64(len(*p)) * 8
		}
	}
	return n + int64(shards*bits.UintSize/8*2)
}
