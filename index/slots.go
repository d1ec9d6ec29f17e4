package index

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/index/internal/table"
)

const (
	chunkBits = 12
	chunkDocs = 1 << chunkBits
)

// A chunk is what memory holds of chunkDocs documents, besides their keys. A document is
// written before the view that shows it is published, and stays as it is but for dead.
type chunk struct {
	times      []int64
	digests    [][2]uint64
	signatures []uint32 // words of each document, one after the other
	dead       [chunkDocs / 64]atomic.Uint64

	// Of a collection in memory.
	records [][]byte
	block   []byte // that records are cut from
	size    atomic.Int64
}

func newChunk(words int, records bool) *chunk {
	c := &chunk{times: make([]int64, chunkDocs), digests: make([][2]uint64, chunkDocs), signatures: make([]uint32, words*chunkDocs)}
	if records {
		c.records = make([][]byte, chunkDocs)
	}
	return c
}

// blockSize is how many bytes of records are allocated at once.
const blockSize = 256 << 10

// put copies a record into the chunk.
func (c *chunk) put(slot uint64, record []byte) {
	if len(record) > cap(c.block)-len(c.block) {
		c.block = make([]byte, 0, max(blockSize, len(record)))
		c.size.Add(int64(cap(c.block)))
	}
	n := len(c.block)
	c.block = append(c.block, record...)
	c.adopt(slot, c.block[n:len(c.block):len(c.block)])
}

// adopt takes a record as it is. It must not change any more.
func (c *chunk) adopt(slot uint64, record []byte) { c.records[slot%chunkDocs] = record }

func (c *chunk) isDead(slot uint64) bool {
	i := slot % chunkDocs
	return c.dead[i/64].Load()>>(i%64)&1 == 1
}

// bury marks a document as dead, and tells whether it was not.
func (c *chunk) bury(slot uint64) bool {
	i := slot % chunkDocs
	return c.dead[i/64].Or(1<<(i%64))>>(i%64)&1 == 0
}

// signature returns that of a document.
func (c *chunk) signature(slot uint64, words int) []uint32 {
	i := int(slot%chunkDocs) * words
	return c.signatures[i : i+words : i+words]
}

// A view is the collection at one moment, after a whole batch. It does not change.
type view struct {
	table.Range
	chunks []*chunk
	base   uint64 // number of the first chunk
}

func (v *view) chunk(slot uint64) *chunk { return v.chunks[slot>>chunkBits-v.base] }

// has tells whether the slot is there and alive.
func (v *view) has(slot uint64) bool {
	return slot >= v.First && slot < v.Next && !v.chunk(slot).isDead(slot)
}

// extended returns the view with room for one slot more behind the last one. Room is not
// shown: Next stays.
func (v *view) extended(slot uint64, words int, records bool) view {
	w := *v
	if slot>>chunkBits-w.base == uint64(len(w.chunks)) {
		w.chunks = append(slices.Clip(w.chunks), newChunk(words, records))
	}
	return w
}

// shortened returns the view without the slots before first. Chunks of which nothing is
// left are let go.
func (v *view) shortened(first uint64) view {
	w := *v
	w.First = first
	if n := first>>chunkBits - w.base; n > 0 {
		w.chunks = slices.Clone(w.chunks[min(n, uint64(len(w.chunks))):])
		w.base += n
	}
	return w
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
