package index

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/index/internal/keytable"
)

// A view is the collection at one moment, after a whole batch. It does not change.
type view struct {
	keytable.Range
	chunks []*chunk
	base   uint64          // number of the first chunk
	table  *keytable.Table // keys of the documents from frozen on
	words  int             // of a document

	// With keys on disk, see settled.go.
	settled uint64          // all data of documents before this slot are on disk
	frozen  uint64          // documents from settled up to this slot are being settled; equals settled if there are none
	older   *keytable.Table // keys of the documents being settled; nil: there are none
	disk    settledStore    // nil: no documents are settled
	gone    map[uint64]bool // settled documents that the current batch has removed; only in the writer's view
}

// A settledStore reads settled documents, also while the writer settles more.
type settledStore interface {
	// facts reads the facts of a document, and tells whether it is alive.
	facts(slot uint64, words int, f *facts) (alive bool, err error)
	// hasFacts tells whether a document is alive. It is true if the store cannot tell.
	hasFacts(slot uint64) bool
	// look begins to look up these keys of the view's settled documents.
	look(v *view, keys []uint64) (settledKeys, error)
}

// settledKeys answers where documents are that have a key.
type settledKeys interface {
	// append appends the first slots of the range, up to so many.
	append(dst []uint64, key uint64, r keytable.Range, most int) ([]uint64, error)
	close() error
}

// chunk returns the chunk of a slot that is not settled.
func (v *view) chunk(slot uint64) *chunk { return v.chunks[slot>>chunkBits-v.base] }

// has tells whether the slot exists and is alive. It is true if the store cannot tell: then reading
// the document returns the error.
func (v *view) has(slot uint64) bool {
	return v.mayHave(slot) && (slot >= v.settled || v.disk.hasFacts(slot))
}

// mayHave is has without a look on the disk, which whoever reads the document next need not pay for: it is true for one that
// was deleted before it was settled, too.
func (v *view) mayHave(slot uint64) bool {
	if slot < v.First || slot >= v.Next {
		return false
	}
	if slot < v.settled {
		return !v.gone[slot]
	}
	return !v.chunk(slot).isDead(slot)
}

// slots calls yield for the slot of each living document, ascending, until that returns false.
func (v *view) slots(yield func(slot uint64) bool) {
	for slot := v.First; slot < v.Next; slot++ {
		if v.has(slot) && !yield(slot) {
			return
		}
	}
}

// living tells whether a slot, possibly of the current batch, is alive.
func (v *view) living(slot uint64) bool {
	w := *v
	w.Next = math.MaxUint64
	return w.has(slot)
}

// facts are the data of a document without its keys and its record.
type facts struct {
	time   int64
	digest [2]uint64
	words  []uint32
	read   []uint32 // memory for words that were read
}

// facts fills f for a slot, and tells whether it is alive. f is valid until the next call with it.
func (v *view) facts(slot uint64, f *facts) (alive bool, err error) {
	if slot < v.settled {
		if v.gone[slot] {
			return false, nil
		}
		return v.disk.facts(slot, v.words, f)
	}
	c := v.chunk(slot)
	f.time, f.digest, f.words = c.times[slot%chunkDocs], c.digests[slot%chunkDocs], c.signature(slot, v.words)
	return !c.isDead(slot), nil
}

// live counts the living documents.
func (v *view) live() int64 {
	dead := 0
	for i, c := range v.chunks {
		from := (v.base + uint64(i)) << chunkBits
		for j := range c.dead {
			word := c.dead[j].Load()
			if word == 0 {
				continue
			}
			if at := from + uint64(j)*64; at < v.First {
				if v.First-at >= 64 {
					continue
				}
				word &= ^uint64(0) << (v.First - at)
			}
			dead += bits.OnesCount64(word)
		}
	}
	return int64(v.Next-v.First) - int64(dead)
}

// extended returns the view with room for one more slot at its end. Readers do not see the room:
// Next is unchanged.
func (v *view) extended(slot uint64, records bool) view {
	w := *v
	if slot>>chunkBits-w.base == uint64(len(w.chunks)) {
		w.chunks = append(slices.Clip(w.chunks), newChunk(w.words, records))
	}
	return w
}

// shortened returns the view without the slots before first. It releases chunks that are empty then.
func (v *view) shortened(first uint64) view {
	w := *v
	w.First = first
	w.letGo(first)
	return w
}

// letGo releases the chunks that have only slots before this one.
func (v *view) letGo(before uint64) {
	if before>>chunkBits > v.base {
		n := before>>chunkBits - v.base
		v.chunks = slices.Clone(v.chunks[min(n, uint64(len(v.chunks))):])
		v.base += n
	}
}

// tableOf returns the table with the keys of a slot that is not settled.
func (v *view) tableOf(slot uint64) *keytable.Table {
	if slot < v.frozen {
		return v.older
	}
	return v.table
}

// touch brings the buckets of keys in memory into the processor's cache.
func (v *view) touch(keys []uint64) {
	v.table.Touch(keys)
	if v.older != nil {
		v.older.Touch(keys)
	}
}

// tableBytes returns the size of the tables of keys.
func (v *view) tableBytes() int64 {
	n := v.table.Bytes()
	if v.older != nil {
		n += v.older.Bytes()
	}
	return n
}

// slotBytes returns the size of the chunks of a view without records.
func (v *view) slotBytes() int64 { return int64(len(v.chunks)) * chunkDocs * slotSize(v.words) }

// slotSize is the size of a document in a chunk, without its record.
func slotSize(words int) int64 { return int64(8 + 16 + 4*words) }

const (
	chunkBits = 12
	chunkDocs = 1 << chunkBits
)

// A chunk has the data that memory holds of chunkDocs documents, except their keys. A document is written
// before the view that shows it is published, and does not change afterwards, except that it may be
// marked dead.
type chunk struct {
	times      []int64
	digests    [][2]uint64
	signatures []uint32 // words of each document, one after the other
	dead       [chunkDocs / 64]atomic.Uint64

	// Of a collection in memory.
	records [][]byte
	block   []byte // memory in which records are stored
	size    atomic.Int64
}

func newChunk(words int, records bool) *chunk {
	c := &chunk{times: make([]int64, chunkDocs), digests: make([][2]uint64, chunkDocs), signatures: make([]uint32, words*chunkDocs)}
	if records {
		c.records = make([][]byte, chunkDocs)
	}
	return c
}

// blockSize is how many bytes of records are allocated at once: with 256 KiB one document in a hundred waits 40 µs for pages.
const blockSize = 64 << 10

func (c *chunk) put(slot uint64, record []byte) {
	if len(record) > cap(c.block)-len(c.block) {
		c.block = make([]byte, 0, max(blockSize, len(record)))
		c.size.Add(int64(cap(c.block)))
	}
	n := len(c.block)
	c.block = append(c.block, record...)
	c.adopt(slot, c.block[n:len(c.block):len(c.block)])
}

// adopt stores a record without copying it. It must not change any more.
func (c *chunk) adopt(slot uint64, record []byte) { c.records[slot%chunkDocs] = record }

func (c *chunk) signature(slot uint64, words int) []uint32 {
	i := int(slot%chunkDocs) * words
	return c.signatures[i : i+words : i+words]
}

func (c *chunk) isDead(slot uint64) bool {
	i := slot % chunkDocs
	return c.dead[i/64].Load()>>(i%64)&1 == 1
}

// bury marks a document as dead, and tells whether it was alive.
func (c *chunk) bury(slot uint64) bool {
	i := slot % chunkDocs
	return c.dead[i/64].Or(1<<(i%64))>>(i%64)&1 == 0
}
