package dedup

import (
	"slices"
	"unsafe"

	"github.com/alike-dev/alike/corpus"
)

// document is what the engine keeps of a document while it works: 64 bytes,
// apart from its band keys.
type document struct {
	digest   [2]uint64 // of the features, with repeats and regardless of order
	offset   int64     // of the record in the file's decoded stream
	idEnd    uint64    // end of its id in table.ids
	valueEnd uint64    // end of its keep rule's field in table.values
	length   uint32    // bytes of the record
	textSize uint32    // bytes of the text
	features uint32    // count, with repeats
	line     uint32    // within its block, from 0
	block    uint32
	hasValue bool // the record has the keep rule's field
	skipped  bool // found unusable after it was read: its id was there before
}

// block is a run of documents of one file.
type block struct {
	seq       int64 // within the file
	file      int32
	firstDoc  uint32
	firstLine int64 // of the file, from 0

	// What is large stays where the block's worker has put it: moving it into
	// one array would need it twice.
	keys       []uint64 // bands a document
	signatures []uint32 // k a document, when similarity is estimated
}

// table is all documents in input order: references first, then the inputs.
// The order is that of the sources and, within a file, of the records, whatever
// worker read them when.
type table struct {
	sources    []corpus.Source
	refSources int // leading sources that are references
	refs       int // leading documents that are references
	blocks     []block
	docs       []document
	ids        []byte
	values     []byte // of the keep rule's field
	bands      int
	k          int        // components of a signature
	sets       [][]uint64 // feature sets, when all of them are held
}

func (t *table) fileOf(doc uint32) int { return int(t.blocks[t.docs[doc].block].file) }

// explicitID returns the id that the record carries, or nothing.
func (t *table) explicitID(doc uint32) []byte {
	start := uint64(0)
	if doc > 0 {
		start = t.docs[doc-1].idEnd
	}
	return t.ids[start:t.docs[doc].idEnd]
}

// appendID appends the name of a document in the outputs.
func (t *table) appendID(dst []byte, doc uint32) []byte {
	if id := t.explicitID(doc); len(id) > 0 {
		return append(dst, id...)
	}
	d := &t.docs[doc]
	b := &t.blocks[d.block]
	return t.sources[b.file].AppendID(dst, b.firstLine+int64(d.line))
}

func (t *table) id(doc uint32) string { return string(t.appendID(nil, doc)) }

// line returns the physical line a document starts at, from 1.
func (t *table) line(doc uint32) int64 {
	d := &t.docs[doc]
	return t.blocks[d.block].firstLine + int64(d.line) + 1
}

func (t *table) keysOf(doc uint32) []uint64 {
	b := &t.blocks[t.docs[doc].block]
	i := int(doc-b.firstDoc) * t.bands
	return b.keys[i : i+t.bands]
}

func (t *table) signature(doc uint32) []uint32 {
	b := &t.blocks[t.docs[doc].block]
	i := int(doc-b.firstDoc) * t.k
	return b.signatures[i : i+t.k]
}

// dropKeys gives back the memory of the band keys.
func (t *table) dropKeys() {
	for i := range t.blocks {
		t.blocks[i].keys = nil
	}
}

// docsOfFile returns the range of documents of a file.
func (t *table) docsOfFile(file int) (first, end uint32) {
	find := func(file int) uint32 {
		i, _ := slices.BinarySearchFunc(t.blocks, file, func(b block, file int) int { return int(b.file) - file })
		if i == len(t.blocks) {
			return uint32(len(t.docs))
		}
		return t.blocks[i].firstDoc
	}
	return find(file), find(file + 1)
}

// docsOfBlock returns the range of documents of a block, empty when it has none.
func (t *table) docsOfBlock(file int, seq int64) (first, end uint32) {
	at := position{file, seq}
	i, found := slices.BinarySearchFunc(t.blocks, at, func(b block, at position) int {
		return position{int(b.file), b.seq}.compare(at)
	})
	if !found {
		return 0, 0
	}
	end = uint32(len(t.docs))
	if i+1 < len(t.blocks) {
		end = t.blocks[i+1].firstDoc
	}
	return t.blocks[i].firstDoc, end
}

// size returns the bytes that the table holds.
func (t *table) size() int64 {
	n := int64(len(t.docs))*int64(unsafe.Sizeof(document{})) + int64(len(t.ids)+len(t.values))
	for i := range t.blocks {
		b := &t.blocks[i]
		n += int64(unsafe.Sizeof(block{})) + int64(len(b.keys))*8 + int64(len(b.signatures))*4
	}
	for _, s := range t.sets {
		n += int64(len(s))*8 + 24
	}
	return n
}
