package doctable

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
)

// Options say what a table holds, and where.
type Options struct {
	Sources    []corpus.Source
	References int // leading sources that are references
	Left       int // leading sources of the left of two collections
	Keys       int // number of keys of a document
	Words      int // words of a signature that is kept; 0: none is kept
	// MostSetFeatures is how many features all documents together may have, with repeats, for their
	// feature sets to be kept; 0: they are not kept.
	MostSetFeatures int64
	// Within says that a document has a value of the field of recipe.Recipe.Within.
	Within bool
	// By says that a document has a value by which it is only counted.
	By bool

	Space        *scratch.Space
	Memory       int64 // of segments, in bytes; 0: half of that of Space
	SegmentBytes int64 // size of a segment at which the next one is begun
	// Log receives notes of parts of PartBytes of input, or more; nil: parts are made only if
	// memory does not suffice.
	Log       *resume.Log
	PartBytes int64
}

// Valued tells whether a document has a value of the recipe's field, or of one by which it is counted.
func (o *Options) Valued() bool { return o.Within || o.By }

// Builder makes a table of the documents that several workers read at the same time. Segments stay
// in memory until they fill their share of it; then all go to disk.
type Builder struct {
	o        Options
	keepSets atomic.Bool
	features atomic.Int64 // so far, with repeats

	mu       sync.Mutex
	t        *Table
	held     int64 // bytes of the segments in memory
	spilling bool  // memory is full: segments go directly to disk
}

func NewBuilder(o Options) *Builder {
	b := &Builder{o: o, t: &Table{Sources: o.Sources, ReferenceFiles: o.References, leftFiles: o.Left, bands: o.Keys, k: o.Words, within: o.Within, valued: o.Valued()}}
	b.keepSets.Store(o.MostSetFeatures > 0)
	return b
}

// KeepsSet tells whether the set of a text with that many features is kept. If not, no sets are
// kept.
func (b *Builder) KeepsSet(features int) bool {
	if int64(features) > b.o.MostSetFeatures {
		b.keepSets.Store(false)
	}
	return b.keepSets.Load()
}

// count adds features of documents that were read.
func (b *Builder) count(features int64) {
	if b.features.Add(features) > b.o.MostSetFeatures {
		b.keepSets.Store(false)
	}
}

// AddPart adds the segments of a part that an earlier process has made. It returns the blocks of
// the part, which AddBlocks adds if they are wanted.
func (b *Builder) AddPart(name PartName) ([]Block, error) {
	p, index, err := openPart(b.o.Space, name)
	if err != nil {
		return nil, err
	}
	first, number := int32(len(b.t.segments)), int32(len(b.t.parts))
	b.t.parts = append(b.t.parts, p)
	b.count(index.features)
	for _, l := range index.segments {
		b.t.segments = append(b.t.segments, &segment{rows: int(l.rows), keyed: int(l.keyed), part: number, layout: l})
	}
	for i := range index.blocks {
		if int(index.blocks[i].File) >= len(b.o.Sources) {
			return nil, p.damaged()
		}
		index.blocks[i].segment += first
	}
	return index.blocks, nil
}

// AddBlocks adds blocks of parts.
func (b *Builder) AddBlocks(blocks ...Block) { b.t.Blocks = append(b.t.Blocks, blocks...) }

// Table returns the table when all is read. Close it, also after an error.
func (b *Builder) Table() (*Table, error) {
	b.t.HasSets, b.t.Features = b.keepSets.Load(), b.features.Load()
	return b.t, b.t.number()
}

// Close closes the parts of a table that is not needed.
func (b *Builder) Close() { b.t.Close() }

// admit tells whether there is no room in memory for a segment of a size, and whether it is the
// first such segment. After that all segments go to disk.
func (b *Builder) admit(size int64) (full, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += size
	limit := cmp.Or(b.o.Memory, b.o.Space.Share(2))
	if !b.spilling && limit > 0 && b.held > limit {
		b.spilling, first = true, true
	}
	return b.spilling, first
}

// keep adds a segment and its blocks to the table. If memory is full, its columns are in a part and
// leave memory.
func (b *Builder) keep(s *segment, blocks []Block, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.firstBlock, s.blockCount = len(b.t.Blocks), len(blocks)
	for _, of := range blocks {
		of.segment = int32(len(b.t.segments))
		b.t.Blocks = append(b.t.Blocks, of)
	}
	b.t.segments = append(b.t.segments, s)
	if full {
		b.drop(s)
	}
}

// drop gives back the memory of a segment that is in a part. b.mu is held.
func (b *Builder) drop(s *segment) {
	b.o.Space.Spilled(s.layout.end() - s.layout.offset)
	s.drop()
	for i := range s.blockCount {
		b.t.Blocks[s.firstBlock+i].problems = nil
	}
}

// Filler makes segments for one goroutine, and writes its part.
type Filler struct {
	b        *Builder
	segment  *segment
	blocks   []Block // of the segment, not yet in the table
	problems int64   // bytes of these blocks' problems
	last     *segment
	part     *partWriter
	number   int32 // of the part in the table
	gained   int64 // features since the last segment was written
}

// NewFiller returns a filler for one goroutine, which closes it.
func (b *Builder) NewFiller() *Filler {
	f := &Filler{b: b, last: &segment{}}
	f.newSegment()
	return f
}

// newSegment begins a segment with the capacity that the last one needed, so that its slices need
// not grow step by step.
func (f *Filler) newSegment() {
	room := func(n int) int { return n + n/8 }
	f.segment = &segment{
		part: -1, resident: true,
		columns: columns{
			docs:   make([]Document, 0, room(len(f.last.docs))),
			ends:   make([]ends, 0, room(len(f.last.ends))),
			ids:    make([]byte, 0, room(len(f.last.ids))),
			Keys:   make([]uint64, 0, room(len(f.last.Keys))),
			Hashes: make([]uint32, 0, room(len(f.last.Hashes))),
		},
	}
	f.blocks, f.problems = f.blocks[:0], 0
}

// Columns are those that a document's keys, hashes, signature and feature set are appended to,
// before it is added.
func (f *Filler) Columns() *columns { return &f.segment.columns }

// Add adds a document, with its own id, the value that Options.Within or By is about, and its own value, nil if it
// has none: the keep rule's field or, where documents are looked up, the result of that. A document has keys, or
// hashes of fewer than 2¹⁴ features, if any were appended since the last call.
func (f *Filler) Add(d Document, id, within, value []byte) {
	s := f.segment
	s.ids = append(s.ids, id...)
	if f.b.t.valued {
		s.values = append(binary.AppendUvarint(s.values, uint64(len(within))), within...)
	}
	s.values = append(s.values, value...)
	d.IDHash = HashID(id)
	s.add(d, value != nil, f.b.t.bands)
}

// Begin returns a block, or a piece of one, to which the next documents are added.
func (f *Filler) Begin(file int, seq int64, piece int32) Block {
	return Block{File: int32(file), Seq: seq, Piece: piece, row: uint32(len(f.segment.docs))}
}

// End counts the documents of a block, the bytes of their records and their features.
func (f *Filler) End(b *Block) (bytes int64) {
	b.Docs = uint32(len(f.segment.docs)) - b.row
	features := int64(0)
	for i := range f.segment.docs[b.row:] {
		d := &f.segment.docs[int(b.row)+i]
		bytes += int64(d.Length)
		features += int64(d.Features)
	}
	f.gained += features
	f.b.count(features)
	return bytes
}

// Keep adds a finished block to the table.
func (f *Filler) Keep(b *Block) error {
	f.blocks = append(f.blocks, *b)
	f.problems += int64(len(b.problems))
	if !f.full(0) {
		return nil
	}
	return f.seal()
}

// Drop removes the documents of a block.
func (f *Filler) Drop(b *Block) {
	if !b.IsEnd() {
		f.segment.cut(int(b.row), f.b.t.bands, f.b.t.k)
	}
}

// Full tells whether the segment is full: the block then continues as another piece.
func (f *Filler) Full(b *Block) bool { return f.full(int64(len(b.problems))) }

// full tells whether the segment is full, with problems more bytes of problems that do not belong
// to its blocks yet.
func (f *Filler) full(problems int64) bool {
	return f.segment.filled()+f.problems+problems >= f.b.o.SegmentBytes
}

// Filled returns the number of documents in the segment, and their size in bytes.
func (f *Filler) Filled() (documents int, bytes int64) {
	return len(f.segment.docs), f.segment.filled()
}

// seal passes the segment to the table, and writes it to the worker's part if memory is full or
// finished parts must survive.
func (f *Filler) seal() error {
	if len(f.blocks) == 0 {
		return nil
	}
	b, s := f.b, f.segment
	f.last = &segment{columns: columns{docs: s.docs, ends: s.ends, ids: s.ids, Keys: s.Keys, Hashes: s.Hashes}} // for its capacities
	s.seal(b.t.bands)
	full, first := b.admit(s.size() + f.problems)
	if first {
		if err := f.evict(); err != nil {
			return err
		}
	}
	if full || b.o.Log != nil {
		if err := f.store(s, f.blocks); err != nil {
			return err
		}
	}
	b.keep(s, f.blocks, full)
	f.newSegment()
	return nil
}

// evict moves the segments in memory to disk.
func (f *Filler) evict() error {
	b := f.b
	b.mu.Lock()
	segments := slices.Clone(b.t.segments)
	b.mu.Unlock()
	for _, s := range segments {
		if s.resident && s.part < 0 {
			b.mu.Lock()
			blocks := slices.Clone(b.t.Blocks[s.firstBlock : s.firstBlock+s.blockCount])
			b.mu.Unlock()
			if err := f.store(s, blocks); err != nil {
				return err
			}
			b.mu.Lock()
			for i, of := range blocks {
				b.t.Blocks[s.firstBlock+i].problemsAt, b.t.Blocks[s.firstBlock+i].problemsLen = of.problemsAt, of.problemsLen
			}
			b.mu.Unlock()
		}
		if s.resident {
			b.mu.Lock()
			b.drop(s)
			b.mu.Unlock()
		}
	}
	return nil
}

// store writes a segment to the worker's part and records the places of the segment and of the
// problems of its blocks.
func (f *Filler) store(s *segment, blocks []Block) error {
	b := f.b
	if f.part == nil {
		part, err := newPartWriter(b.o.Space)
		if err != nil {
			return err
		}
		b.mu.Lock()
		f.part, f.number = part, int32(len(b.t.parts))
		b.t.parts = append(b.t.parts, part.part)
		b.mu.Unlock()
	}
	f.part.features += f.gained
	f.gained = 0
	if err := f.part.add(s, blocks, b.t.bands, b.t.k, b.keepSets.Load()); err != nil {
		return err
	}
	s.part = f.number
	return nil
}

// Rest ends the worker's part if it covers enough bytes of input, and tells whether it did. It is
// called between blocks: a part that names a block has all of it.
func (f *Filler) Rest(taken int64) (ended bool, err error) {
	if f.b.o.Log == nil || taken < f.b.o.PartBytes {
		return false, nil
	}
	return true, f.Finish()
}

// Finish passes on what is left, and writes a note of the worker's part, so that it is not made
// again.
func (f *Filler) Finish() error {
	if err := f.seal(); err != nil || f.b.o.Log == nil || f.part == nil {
		return err
	}
	part := f.part
	f.part = nil
	if err := part.seal(); err != nil {
		return errors.Join(err, part.close())
	}
	return f.b.o.Log.Note(resume.Part, part.part.PartName)
}

// Close ends the writing of a part that nobody will continue.
func (f *Filler) Close() error {
	if f.part == nil {
		return nil
	}
	return f.part.close()
}
