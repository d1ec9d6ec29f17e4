// Package keytable is a hash table in memory, from the keys of documents' signatures to the slots of the
// documents. A slot is a document's number in the order of arrival.
//
// One goroutine at a time writes. Any number of goroutines read at the same time, without a lock. Documents
// expire when the caller moves the Range: entries with slots outside the range are dead, and later
// insertions overwrite them.
//
// # Layout
//
//	key    63 … 52   51 … 32   31 … 0
//	       shard     (unused)  print
//
//	entry  print<<32 | lowest 32 bits of the slot;  0: empty
//
// A shard is one array of lines of eight entries, a cache line each. The search for a print begins at the start of its
// home, line print·lines>>32, and goes on, line by line, to the first one with an empty entry. So entries are nearly in
// the order of their prints, and copying them into a larger array fills that from front to back. Entries never become
// empty again, so that a line's empty ones are its last. The entries with one print are a bucket.
//
// Two keys with equal shard and print count as one key. A look-up in a table of n entries finds an entry
// of another key with probability n/2⁴⁴ at most; callers verify the candidates.
//
// An entry has 8 bytes. Shards are filled to between 50 and 80 percent. Nearly all look-ups find a line that has no entry
// of their print and an empty last one: that is told without a branch for each entry, of which the processor would guess
// one wrong.
package keytable

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/largepages"
	"github.com/alike-dev/alike/internal/simd"
)

const (
	shardBits = 12 // with 100 million documents, copying one shard takes about a millisecond
	shards    = 1 << shardBits

	mostFull   = 80      // percent of a shard's entries that are not empty, at most: then it is copied
	afterwards = 50      // percent of a shard's entries that are live after copying: a key is then copied about twice
	reserved   = 68      // percent of a shard's entries that are live, as expected, when Reserve has been used
	least      = perLine // entries of a shard

	perLine = 8 // entries

	pageEntries = 4096 / 8 // of memory
)

// A Range is the range of live slots, First ≤ slot < Next. It must have fewer than 2³² slots.
type Range struct{ First, Next uint64 }

// slot returns the slot of an entry, and whether it is in the range. An entry has only the lowest 32 bits.
func (r Range) slot(entry uint64) (slot uint64, live bool) {
	offset := uint64(uint32(entry) - uint32(r.First))
	return r.First + offset, offset < r.Next-r.First
}

// open tells by bits which entries of a line are empty or dead.
func (r Range) open(line *[perLine]uint64) (open uint) {
	for i, e := range line {
		dead := ^(uint64(uint32(e)-uint32(r.First)) - (r.Next - r.First)) >> 63
		empty := (e - 1) &^ e >> 63
		open |= uint(dead|empty) << i
	}
	return open
}

// A Table is a hash table from keys to slots. New makes one.
type Table struct {
	most   int // live entries of a bucket
	shards [shards]shard
}

// shard is a part of the table. The writer replaces the array of entries but never moves an entry inside it.
type shard struct {
	entries atomic.Pointer[[]uint64]
	used    int // entries that are not empty; only writers read it
}

// New returns an empty table. A bucket holds at most most documents.
func New(most int) *Table { return &Table{most: most} }

// ReservedBytes returns the least memory, in bytes, of a table after Reserve(keys).
func ReservedBytes(keys int) int64 { return int64(reservedFor(keys)) * shards * 8 }

// GrownBytes returns the most memory, in bytes, of the entries of a table after inserting so many keys.
func GrownBytes(keys int) int64 { return int64(keys) * 8 * 100 / afterwards }

// reservedFor returns the entries of a shard in a table with room for so many keys.
func reservedFor(keys int) int { return keys / shards * 100 / reserved / perLine * perLine }

// roomFor returns the entries of a shard that is filled with so many live ones.
func roomFor(live int) int { return max(live*100/afterwards, least) / perLine * perLine }

// Reserve makes room for so many keys in all, evenly spread over the shards. Shards do not shrink. No other
// goroutine may use the table during the call.
func (t *Table) Reserve(keys int) {
	n := reservedFor(keys)
	for i := range t.shards {
		s := &t.shards[i]
		old := s.entries.Load()
		if n < least || old != nil && len(*old) >= n {
			continue
		}
		s.replace(n, Range{0, 1 << 32}) // every slot
	}
}

// Shard returns the number of the shard of a key, below Shards. Goroutines may write to different shards at
// the same time.
func Shard(key uint64) int { return int(key >> (64 - shardBits)) }

const Shards = shards

// printOf returns the print of a key. It is never 0, so that no entry looks empty.
func printOf(key uint64) uint64 { return uint64(uint32(key) | 1) }

// home returns where the search for a print begins in a shard of n entries.
func home(print uint64, n int) int { return int(print*uint64(n/perLine)>>32) * perLine }

func holds(line *[perLine]uint64, print uint64) bool {
	below := uint64(0)
	for i := range line {
		below |= (atomic.LoadUint64(&line[i])>>32 ^ print) - 1 // all ones for an entry of the print
	}
	return below>>63 != 0
}

// Touch asks for the entries that Append and Insert read first to be loaded into the cache. Waiting for them is most of
// the cost of a look-up: whoever has other work for the next half microsecond does not wait.
func (t *Table) Touch(keys []uint64) {
	for _, key := range keys {
		if p := t.shards[Shard(key)].entries.Load(); p != nil {
			simd.Prefetch(&(*p)[home(printOf(key), len(*p))])
		}
	}
}

// Append appends the slots of the range that have the key, in no particular order. O(1 + bucket) expected.
func (t *Table) Append(dst []uint64, key uint64, r Range) []uint64 {
	p := t.shards[Shard(key)].entries.Load()
	if p == nil {
		return dst
	}
	entries, print := *p, printOf(key)
	for i := home(print, len(entries)); ; {
		line := (*[perLine]uint64)(entries[i:])
		if holds(line, print) {
			for j := range line {
				e := atomic.LoadUint64(&line[j])
				if slot, live := r.slot(e); live && e>>32 == print {
					dst = append(dst, slot)
				}
			}
		}
		if atomic.LoadUint64(&line[perLine-1]) == 0 {
			return dst
		}
		if i += perLine; i == len(entries) {
			i = 0
		}
	}
}

// Insert adds an entry for the key and the slot, which may be at or behind the end of the range. If the
// bucket is full, it adds nothing and returns false. O(1 + bucket) expected.
func (t *Table) Insert(key, slot uint64, r Range) bool {
	s := &t.shards[Shard(key)]
	r.Next = max(r.Next, slot+1)
	p := s.entries.Load()
	if p == nil || (s.used+1)*100 > len(*p)*mostFull {
		p = s.fill(r)
	}
	entries, print := *p, printOf(key)
	free, bucket := -1, 0
	for i := home(print, len(entries)); ; {
		line := (*[perLine]uint64)(entries[i:])
		if holds(line, print) {
			for _, e := range line {
				if _, live := r.slot(e); live && e>>32 == print {
					bucket++
				}
			}
			if bucket >= t.most {
				return false
			}
		}
		if free < 0 {
			if at := bits.TrailingZeros(r.open(line)); at < perLine {
				free = i + at
			}
		}
		if line[perLine-1] == 0 {
			break
		}
		if i += perLine; i == len(entries) {
			i = 0
		}
	}
	if entries[free] == 0 {
		s.used++
	}
	atomic.StoreUint64(&entries[free], print<<32|uint64(uint32(slot)))
	return true
}

// Remove removes the entry for the key and a slot of the range, if there is one.
func (t *Table) Remove(key, slot uint64, r Range) {
	p := t.shards[Shard(key)].entries.Load()
	if p == nil {
		return
	}
	entries, print := *p, printOf(key)
	for i := home(print, len(entries)); entries[i] != 0; {
		if entries[i] == print<<32|uint64(uint32(slot)) {
			atomic.StoreUint64(&entries[i], print<<32|uint64(uint32(r.First-1))) // dead, but not empty, which would end the bucket
			return
		}
		if i++; i == len(entries) {
			i = 0
		}
	}
}

// PrintBits is the number of bits of Print.
const PrintBits = shardBits + 32

// Print returns the bits of a key that the table uses, shard and print: keys for which they are equal share a
// bucket.
func Print(key uint64) uint64 { return uint64(Shard(key))<<32 | printOf(key) }

// Each calls visit for each live entry, with the Print of its key, in the order of Print and slot. If visit
// returns an error, Each stops and returns it. O(n log n) for each shard of n entries.
func (t *Table) Each(r Range, visit func(print, slot uint64) error) error {
	var found []uint64 // the upper bits of an entry, and how far its slot is from the first: their order is that of both
	for i := range t.shards {
		p := t.shards[i].entries.Load()
		if p == nil {
			continue
		}
		found = found[:0]
		for j := range *p {
			e := atomic.LoadUint64(&(*p)[j])
			if slot, live := r.slot(e); e != 0 && live {
				found = append(found, e>>32<<32|(slot-r.First))
			}
		}
		slices.Sort(found)
		for _, f := range found {
			if err := visit(uint64(i)<<32|f>>32, r.First+uint64(uint32(f))); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill copies the live entries into an array of suitable size, and publishes it.
func (s *shard) fill(r Range) *[]uint64 {
	live := 0
	for _, e := range s.all() {
		if _, ok := r.slot(e); ok && e != 0 {
			live++
		}
	}
	return s.replace(roomFor(live+1), r)
}

// replace copies the live entries into an array of n entries, and publishes it. Readers of the old array miss
// only entries that are added later, which are outside the range that they know.
func (s *shard) replace(n int, r Range) *[]uint64 {
	entries := make([]uint64, n)
	largepages.Ask(entries) // the entries of a document are on as many pages as it has keys
	for i := 0; i < n; i += pageEntries {
		entries[i] = 0 // a page that is read first has two faults: one for zeros to read, one for memory to write to
	}
	// How far each line is filled stands in a cache that is near, and a line of the old array has its empty entries last. So
	// the processor guesses wrong once a line, and not twice an entry: half of the time.
	var few [pageEntries]uint8
	filled, lines := few[:], n/perLine
	if lines > len(few) {
		filled = make([]uint8, lines)
	}
	used, old := 0, s.all()
	for from := 0; from < len(old); from += perLine {
		for _, e := range old[from:min(from+perLine, len(old))] {
			if e == 0 {
				break
			}
			if _, live := r.slot(e); !live {
				continue
			}
			line := home(e>>32, n) / perLine
			for filled[line] == perLine {
				if line++; line == lines {
					line = 0
				}
			}
			entries[line*perLine+int(filled[line])] = e
			filled[line]++
			used++
		}
	}
	s.used = used
	s.entries.Store(&entries)
	return &entries
}

// all returns the entries of the shard, also dead and empty ones.
func (s *shard) all() []uint64 {
	if p := s.entries.Load(); p != nil {
		return *p
	}
	return nil
}

// Len returns the number of entries, including dead ones that are not overwritten yet. Only the writer may
// call it.
func (t *Table) Len() (n int) {
	for i := range t.shards {
		n += t.shards[i].used
	}
	return n
}

// Bytes returns the memory of the table in bytes.
func (t *Table) Bytes() (n int64) {
	for i := range t.shards {
		if p := t.shards[i].entries.Load(); p != nil {
			n += int64(len(*p)) * 8
		}
	}
	return n + int64(shards*bits.UintSize/8*2)
}

// Entries appends the live entries of a shard to dst, in the form that Restore takes. Only the writer may call it.
func (t *Table) Entries(dst []uint64, shard int, r Range) []uint64 {
	for _, e := range t.shards[shard].all() {
		if _, live := r.slot(e); e != 0 && live {
			dst = append(dst, e)
		}
	}
	return dst
}

// Restore fills an empty shard with entries of Entries, as many of a bucket as there are.
func (t *Table) Restore(shard int, entries []uint64) {
	s := &t.shards[shard]
	s.entries.Store(&entries)
	s.replace(roomFor(len(entries)), Range{0, 1 << 32})
}
