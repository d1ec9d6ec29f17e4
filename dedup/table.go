package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/hashing"
)

// block is a run of documents of one file, and what could not be read there: a
// block of the input, or a piece of one whose documents fill several segments.
type block struct {
	file     int32
	segment  int32 // that holds its documents
	row      uint32
	docs     uint32
	firstDoc uint32
	piece    int32
	seq      int64 // within the file; endOfFile for what comes after the last one

	lines     int64 // 0 for a piece but the last one
	firstLine int64 // of the file, from 0

	problems                []byte // while it is in memory
	problemsAt, problemsLen int64  // in the segment's part
}

func (b *block) position() position { return position{int(b.file), b.seq, b.piece} }

// table is all documents in input order: references first, then the inputs; or the
// left of two collections first, then the right.
// The order is that of the sources and, within a file, of the records, whatever
// worker read them when.
//
// A document's data lie in the row of a segment, in memory or in a part; only
// blocks are in memory always, about 100 bytes for each MiB of input.
type table struct {
	sources    []corpus.Source
	refSources int   // leading sources that are references
	refs       int   // leading documents that are references
	leftFiles  int   // leading sources of the left of two collections; see Config.With
	left       int   // leading documents of them
	n          int   // documents
	features   int64 // of all documents, with repeats
	bands      int
	k          int  // components of a signature that are kept; 0: none
	hasSets    bool // feature sets are kept
	hasIDs     bool // some document has an id of its own

	segments []*segment
	parts    []part
	blocks   []block
	skipped  bitset // documents found unusable after they were read
	// byPlace has the references that are named by their places, since inputs have
	// their names; nil: none.
	byPlace bitset
}

// number orders the blocks as the input is and numbers the documents.
func (t *table) number() error {
	slices.SortFunc(t.blocks, func(a, b block) int { return a.position().compare(b.position()) })
	docs, line, file := int64(0), int64(0), int32(-1)
	for i := range t.blocks {
		b := &t.blocks[i]
		if b.file != file {
			line, file = 0, b.file
		}
		b.firstDoc, b.firstLine = uint32(docs), line
		docs += int64(b.docs)
		line += b.lines
		if int(file) < t.refSources {
			t.refs = int(docs)
		}
		if int(file) < t.leftFiles {
			t.left = int(docs)
		}
		s := t.segments[b.segment]
		s.blocks = append(s.blocks, int32(i))
		t.hasIDs = t.hasIDs || len(s.ids) > 0 || s.layout.ids > 0
		if err := checkDocuments(docs); err != nil {
			return err
		}
	}
	t.n = int(docs)
	t.skipped = newBitset(t.n)
	return nil
}

// maxDocuments is how many documents a run can number; two numbers and a
// similarity make an entry of the sorters.
const maxDocuments = 1<<32 - 2

func checkDocuments(n int64) error {
	if n <= maxDocuments {
		return nil
	}
	return fmt.Errorf("more than %d documents, references included, are more than one run can number: "+
		"split the input and run each part for itself, then what they keep", int64(maxDocuments))
}

// blockOf returns the number of the block that holds a document.
func (t *table) blockOf(doc uint32) int {
	i, found := slices.BinarySearchFunc(t.blocks, doc, func(b block, doc uint32) int { return cmp.Compare(b.firstDoc, doc) })
	if !found {
		return i - 1
	}
	for t.blocks[i].docs == 0 { // an empty block begins with the document of the next one
		i++
	}
	return i
}

func (t *table) fileOf(doc uint32) int { return int(t.blocks[t.blockOf(doc)].file) }

// docsOfFile returns the range of documents of a file.
func (t *table) docsOfFile(file int) (first, end uint32) {
	return t.firstOf(position{file: file, seq: -1}), t.firstOf(position{file: file + 1, seq: -1})
}

// docsOfBlock returns the range of documents of a block, empty when it has none.
func (t *table) docsOfBlock(file int, seq int64) (first, end uint32) {
	return t.firstOf(position{file: file, seq: seq}), t.firstOf(position{file: file, seq: seq + 1})
}

// firstOf returns the first document at or behind a position.
func (t *table) firstOf(at position) uint32 {
	i, _ := slices.BinarySearchFunc(t.blocks, at, func(b block, at position) int { return b.position().compare(at) })
	if i == len(t.blocks) {
		return uint32(t.n)
	}
	return t.blocks[i].firstDoc
}

// keyBits is the number of bits of a pair of documents as a key, first<<32|second.
func (t *table) keyBits() int { return 32 + bitLen(t.n) }

func bitLen(n int) int {
	bits := 1
	for n>>bits > 0 {
		bits++
	}
	return bits
}

// cursor reads rows of the table for one goroutine. Its slices stand until the
// next call. After an error it returns zero values; see err.
type cursor struct {
	t   *table
	err error

	first, end uint32 // documents of the current block
	block      *block
	segment    *segment

	near    []document // rows read from disk at once, from nearAt
	nearAt  uint32     // document
	prior   document   // the row before them in the segment; zero if there is none
	sizes   int        // rows to read at once
	raw     []byte
	ids     []byte // of the rows near, once one was asked for
	ahead   []byte // of the current segment's part, from aheadAt, when scanning
	aheadAt int64
	bytes   []byte
	set64   []uint64
	sig     []uint32
}

func (t *table) cursor() *cursor { return &cursor{t: t} }

// scanRows is how many rows a cursor that scans reads at once.
const scanRows = 512

// scanner returns a cursor for ascending documents: it reads many rows at once.
func (t *table) scanner() *cursor { return &cursor{t: t, sizes: scanRows} }

// seek makes a document's block the current one.
func (c *cursor) seek(doc uint32) (row int) {
	if c.block == nil || doc < c.first || doc >= c.end {
		c.block = &c.t.blocks[c.t.blockOf(doc)]
		c.first, c.end = c.block.firstDoc, c.block.firstDoc+c.block.docs
		c.segment = c.t.segments[c.block.segment]
		c.near, c.ahead = c.near[:0], c.ahead[:0]
	}
	return int(c.block.row + doc - c.first)
}

var noDocument document

// doc returns what the table holds of a document.
func (c *cursor) doc(doc uint32) *document {
	row := c.seek(doc)
	if c.segment.resident {
		return &c.segment.docs[row]
	}
	if i := int(doc) - int(c.nearAt); len(c.near) > 0 && i >= 0 && i < len(c.near) {
		return &c.near[i]
	}
	return c.fetch(doc, row)
}

// fetch reads rows from a part: the document's own, the one before it and, when
// scanning, some of those behind it in its block too.
func (c *cursor) fetch(doc uint32, row int) *document {
	n, lead := min(max(c.sizes, 1), int(c.end-doc)), min(row, 1)
	c.raw = grow(c.raw, (lead+n)*documentSize)
	c.near, c.ids = c.near[:0], c.ids[:0]
	from := c.segment.layout.docsAt() + int64(row-lead)*documentSize
	if !c.read(c.raw, from) {
		return &noDocument
	}
	c.near, c.nearAt, c.prior = slices.Grow(c.near, n)[:n], doc, document{}
	for i := -lead; i < n; i++ {
		into := &c.prior
		if i >= 0 {
			into = &c.near[i]
		}
		at := (lead + i) * documentSize
		if err := c.file().readDocument(c.raw[at:], from+int64(at), into); err != nil {
			c.fail(err)
			c.near = c.near[:0]
			return &noDocument
		}
	}
	return &c.near[0]
}

// before returns the row before a document's in its segment, whose ends are where
// the document's data begin. The document was read last.
func (c *cursor) before(doc uint32, row int) *document {
	switch i := doc - c.nearAt; {
	case row == 0 || c.err != nil:
		return &noDocument
	case c.segment.resident:
		return &c.segment.docs[row-1]
	case i > 0:
		return &c.near[i-1]
	default:
		return &c.prior
	}
}

func (c *cursor) file() *part { return &c.t.parts[c.segment.part] }

func (c *cursor) read(b []byte, offset int64) bool {
	if c.err != nil {
		return false
	}
	if _, err := c.file().file.ReadAt(b, offset); err != nil {
		c.fail(err)
	}
	return c.err == nil
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.file().Name, err)
	}
}

// explicitID returns the id that a document carries, or nothing.
func (c *cursor) explicitID(doc uint32) []byte {
	if !c.t.hasIDs {
		return nil
	}
	row := c.seek(doc)
	if s := c.segment; s.resident {
		start, end := s.idSpan(row)
		return s.ids[start:end]
	}
	d := c.doc(doc)
	start := c.before(doc, row).idEnd
	if c.err != nil || start >= d.idEnd || !c.readIDs() {
		return nil
	}
	from, to := int64(start)-int64(c.prior.idEnd), int64(d.idEnd)-int64(c.prior.idEnd)
	if from < 0 || to > int64(len(c.ids)) || hashID(c.ids[from:to]) != d.idHash {
		c.fail(errDamaged)
		return nil
	}
	return c.ids[from:to]
}

// readIDs reads the ids of the rows near.
func (c *cursor) readIDs() bool {
	if len(c.ids) > 0 {
		return true
	}
	start, end := c.prior.idEnd, c.near[len(c.near)-1].idEnd
	c.ids = grow(c.ids, int(max(end, start)-start))
	return c.read(c.ids, c.segment.layout.idsAt()+int64(start))
}

// hashID returns what tells ids apart, save for rare collisions.
func hashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	return max(hashing.Bytes(id), 1)
}

// AgainstPrefix begins the name of a reference whose id, or path and line, is the name
// of an input as well. Its path, and line where there are several, follow. No path or
// URL of an input begins like this.
const AgainstPrefix = "against://"

// appendID appends the name of a document in the outputs.
func (c *cursor) appendID(dst []byte, doc uint32) []byte {
	if c.t.namedByPlace(doc) {
		return c.appendPlace(append(dst, AgainstPrefix...), doc)
	}
	if id := c.explicitID(doc); len(id) > 0 {
		return append(dst, id...)
	}
	return c.appendPlace(dst, doc)
}

// appendPlace appends the name that a document without an id has.
func (c *cursor) appendPlace(dst []byte, doc uint32) []byte {
	d := c.doc(doc)
	return c.t.sources[c.block.file].AppendID(dst, c.block.firstLine+int64(d.line))
}

func (c *cursor) id(doc uint32) string { return string(c.appendID(nil, doc)) }

// namer gives the names of documents that are asked for many times in a row, as
// the first one of a large cluster is.
type namer struct {
	*cursor
	known bool
	doc   uint32
	name  string
}

func (n *namer) id(doc uint32) string {
	if !n.known || doc != n.doc {
		n.known, n.doc, n.name = true, doc, n.cursor.id(doc)
	}
	return n.name
}

// line returns the physical line a document starts at, from 1.
func (c *cursor) line(doc uint32) int64 {
	d := c.doc(doc)
	return c.block.firstLine + int64(d.line) + 1
}

// label returns the name of a document's file.
func (c *cursor) label(doc uint32) string {
	c.seek(doc)
	return c.t.sources[c.block.file].Label()
}

// signature returns a document's signature.
func (c *cursor) signature(doc uint32) []uint32 {
	row, k := c.seek(doc), c.t.k
	if s := c.segment; s.resident {
		return s.signatures[row*k : (row+1)*k]
	}
	l := &c.segment.layout
	c.sig = c.sig[:0]
	for b := c.checked(l.signaturesAt()+int64(row)*l.signatureSize(), int64(k)*4); len(b) > 0; b = b[4:] {
		c.sig = append(c.sig, binary.LittleEndian.Uint32(b))
	}
	if len(c.sig) < k {
		c.sig = append(c.sig, make([]uint32, k-len(c.sig))...)
	}
	return c.sig
}

// set returns a document's feature set.
func (c *cursor) set(doc uint32) []uint64 {
	row := c.seek(doc)
	if c.segment.resident {
		return c.segment.set(row)
	}
	end := c.doc(doc).setEnd
	start := c.before(doc, row).setEnd
	c.set64 = words(c.set64[:0], c.checked(c.segment.layout.setAt(row, start), int64(end-start)*8))
	return c.set64
}

// setSize returns how many features a document's set has, if the table has sets.
func (c *cursor) setSize(doc uint32) int {
	row, end := c.seek(doc), c.doc(doc).setEnd
	return int(end - c.before(doc, row).setEnd)
}

// value returns the keep rule's field of a document.
func (c *cursor) value(doc uint32) []byte {
	row := c.seek(doc)
	if s := c.segment; s.resident {
		start, end := s.valueSpan(row)
		return s.values[start:end]
	}
	end := c.doc(doc).valueEnd
	start := c.before(doc, row).valueEnd
	return c.checked(c.segment.layout.valuesAt()+int64(start)+int64(row)*crcSize, int64(end-start))
}

// checked reads a row that a checksum follows.
func (c *cursor) checked(offset, length int64) []byte {
	if c.err != nil {
		return nil
	}
	var b []byte
	var err error
	if c.sizes > 0 && c.readAhead(offset, length+crcSize) {
		b, err = c.file().checked(c.ahead[offset-c.aheadAt:][:length+crcSize], offset)
	} else if c.err == nil {
		b, c.bytes, err = c.file().readChecked(c.bytes, offset, length)
	}
	if err != nil {
		c.fail(err)
	}
	if c.err != nil {
		return nil
	}
	return b
}

// columnBytes is how much a cursor that scans reads at once of feature sets,
// signatures or values.
const columnBytes = 64 << 10

// readAhead reports whether so many bytes from offset on are in memory. They are read
// with those behind them unless they are many.
func (c *cursor) readAhead(offset, length int64) bool {
	if offset >= c.aheadAt && offset+length <= c.aheadAt+int64(len(c.ahead)) {
		return true
	}
	n := min(columnBytes, c.segment.layout.end()-offset)
	if length < crcSize || length > n {
		return false
	}
	c.ahead, c.aheadAt = grow(c.ahead, int(n)), offset
	if _, err := c.file().file.ReadAt(c.ahead, offset); err != nil {
		c.fail(err)
		c.ahead = c.ahead[:0]
		return false
	}
	return true
}

// meta returns what a keep rule may ask of a document.
func (c *cursor) meta(doc uint32) cluster.Meta {
	d := *c.doc(doc)
	m := cluster.Meta{Length: int64(d.textSize), HasValue: d.hasValue}
	if d.hasValue {
		m.Value = string(c.value(doc))
	}
	return m
}

// rowScan gives one worker the rows of segments.
type rowScan struct {
	t     *table
	s     *segment
	docs  []document // of the segment
	raw   []byte
	words []uint64
}

// eachSegment calls visit for every segment, from up to threads goroutines.
func (t *table) eachSegment(ctx context.Context, threads int, visit func(worker int, s *rowScan) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range min(threads, len(t.segments)) {
		group.Go(func() error {
			scan := &rowScan{t: t}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.segments) {
					return nil
				}
				scan.s = t.segments[i]
				if err := visit(worker, scan); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// eachBlock calls visit for every block of the segment that has documents: the
// first of them, and its rows.
func (r *rowScan) eachBlock(visit func(b *block, first uint32, row, end int) error) error {
	for _, i := range r.s.blocks {
		b := &r.t.blocks[i]
		if b.docs == 0 {
			continue
		}
		if err := visit(b, b.firstDoc, int(b.row), int(b.row+b.docs)); err != nil {
			return err
		}
	}
	return nil
}

// documents returns all documents of the segment, by row.
func (r *rowScan) documents() ([]document, error) {
	s := r.s
	if s.resident || s.rows == 0 {
		return s.docs, nil
	}
	r.raw = grow(r.raw, s.rows*documentSize)
	p := &r.t.parts[s.part]
	if _, err := p.file.ReadAt(r.raw, s.layout.docsAt()); err != nil {
		return nil, fmt.Errorf("work folder: %s: %w", p.Name, err)
	}
	r.docs = slices.Grow(r.docs[:0], s.rows)[:s.rows]
	for i := range r.docs {
		at := i * documentSize
		if err := p.readDocument(r.raw[at:], s.layout.docsAt()+int64(at), &r.docs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return r.docs, nil
}

// keys returns the keys of one band, by row.
func (r *rowScan) keys(band int) ([]uint64, error) {
	s := r.s
	if s.resident {
		return s.keys[band*s.rows : (band+1)*s.rows], nil
	}
	p := &r.t.parts[s.part]
	b, raw, err := p.readChecked(r.raw, s.layout.keysAt()+int64(band)*s.layout.bandSize(), int64(s.rows)*8)
	r.raw = raw
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	r.words = words(r.words[:0], b)
	return r.words, nil
}

// dropKeys gives back the memory of the band keys.
func (t *table) dropKeys() {
	for _, s := range t.segments {
		s.keys = nil
	}
}

// close closes the parts. They were only read, so an error tells nothing.
func (t *table) close() {
	for _, p := range t.parts {
		_ = p.file.Close()
	}
	t.parts = nil
}
