package doctable

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/recipe"
)

// Cursor reads rows of the table for one goroutine. Its slices are valid until the next call. After
// an error it returns zero values; see Err.
type Cursor struct {
	partReader

	first, end uint32 // documents of the current block
	block      *Block

	near   []storedDocument // rows read from disk together, from nearAt
	nearAt uint32           // document
	prior  storedDocument   // the row before them in the segment; zero if there is none
	raw    []byte
	ids    []byte // of the rows near, once one was asked for
	set64  []uint64
	sig    []uint32
}

func (t *Table) Cursor() *Cursor { return &Cursor{partReader: partReader{t: t}} }

// scanRows is how many rows a cursor that scans reads at once.
const scanRows = 512

// Scanner returns a cursor for ascending documents: it reads many rows at once.
func (t *Table) Scanner() *Cursor { return &Cursor{partReader: partReader{t: t, sizes: scanRows}} }

// seek makes a document's block the current one.
func (c *Cursor) seek(doc uint32) (row int) {
	if c.block == nil || doc < c.first || doc >= c.end {
		c.block = &c.t.Blocks[c.t.BlockOf(doc)]
		c.first, c.end = c.block.FirstDoc, c.block.FirstDoc+c.block.Docs
		c.segment = c.t.segments[c.block.segment]
		c.near, c.ahead = c.near[:0], c.ahead[:0]
	}
	return int(c.block.row + doc - c.first)
}

var noDocument storedDocument

// Doc returns what the table holds of a document.
func (c *Cursor) Doc(doc uint32) *Document {
	row := c.seek(doc)
	if c.segment.resident {
		return &c.segment.docs[row]
	}
	if i := int(doc) - int(c.nearAt); len(c.near) > 0 && i >= 0 && i < len(c.near) {
		return &c.near[i].Document
	}
	return &c.fetch(doc, row).Document
}

// Resident tells whether the result of the last call stays valid.
func (c *Cursor) Resident() bool { return c.segment.resident }

// fetch reads rows from a part: the document's own, the one before it and, when scanning, also some
// behind it in its block.
func (c *Cursor) fetch(doc uint32, row int) *storedDocument {
	n, lead := min(max(c.sizes, 1), int(c.end-doc)), min(row, 1)
	c.raw = scratch.Buffer(c.raw, (lead+n)*documentSize)
	c.near, c.ids = c.near[:0], c.ids[:0]
	from := c.segment.layout.docsAt() + int64(row-lead)*documentSize
	if !c.read(c.raw, from) {
		return &noDocument
	}
	c.near, c.nearAt, c.prior = slices.Grow(c.near, n)[:n], doc, storedDocument{}
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

// before returns the row before a document's in its segment; its ends are the offsets at which the
// document's data begin. The document was read last, from a part.
func (c *Cursor) before(doc uint32, row int) *storedDocument {
	switch i := doc - c.nearAt; {
	case row == 0 || c.Err != nil:
		return &noDocument
	case i > 0:
		return &c.near[i-1]
	default:
		return &c.prior
	}
}

// OwnID returns the id that a document carries, or nothing.
func (c *Cursor) OwnID(doc uint32) []byte {
	if !c.t.hasIDs {
		return nil
	}
	row := c.seek(doc)
	if s := c.segment; s.resident {
		start, end := s.idSpan(row)
		return s.ids[start:end]
	}
	d := c.Doc(doc)
	start := c.before(doc, row).idEnd
	if c.Err != nil || start >= d.idEnd || !c.readIDs() {
		return nil
	}
	from, to := int64(start)-int64(c.prior.idEnd), int64(d.idEnd)-int64(c.prior.idEnd)
	if from < 0 || to > int64(len(c.ids)) || HashID(c.ids[from:to]) != d.IDHash {
		c.fail(scratch.ErrDamaged)
		return nil
	}
	return c.ids[from:to]
}

// readIDs reads the ids of the rows near.
func (c *Cursor) readIDs() bool {
	if len(c.ids) > 0 {
		return true
	}
	start, end := c.prior.idEnd, c.near[len(c.near)-1].idEnd
	c.ids = scratch.Buffer(c.ids, int(max(end, start)-start))
	return c.read(c.ids, c.segment.layout.idsAt()+int64(start))
}

// HashID returns a hash that identifies an id, except for rare collisions.
func HashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	return max(hashing.Bytes(id), 1)
}

// IndexPrefix is the prefix in the name of a document of an index that has the form of a place in a source, file:line.
const IndexPrefix = "index://"

// AppendID appends the name of a document in the outputs.
func (c *Cursor) AppendID(dst []byte, doc uint32) []byte {
	if c.t.NamedByPlace(doc) {
		return c.appendPlace(append(dst, engine.AgainstPrefix...), doc)
	}
	if id := c.OwnID(doc); len(id) > 0 {
		return append(dst, id...)
	}
	return c.appendPlace(dst, doc)
}

// appendPlace appends the name of a document without an id.
func (c *Cursor) appendPlace(dst []byte, doc uint32) []byte {
	d := c.Doc(doc)
	return c.t.AppendPlace(dst, c.block, d)
}

func (c *Cursor) ID(doc uint32) string { return string(c.AppendID(nil, doc)) }

// Namer returns the names of documents that are asked for many times in a row, such as the first
// one of a large cluster.
type Namer struct {
	*Cursor
	known bool
	doc   uint32
	name  string
}

func (n *Namer) ID(doc uint32) string {
	if !n.known || doc != n.doc {
		n.known, n.doc, n.name = true, doc, n.Cursor.ID(doc)
	}
	return n.name
}

// Line returns the physical line a document starts at, from 1.
func (c *Cursor) Line(doc uint32) int64 {
	d := c.Doc(doc)
	return c.block.firstLine + int64(d.Line) + 1
}

// Label returns the name of a document's file.
func (c *Cursor) Label(doc uint32) string { return c.Source(doc).Label() }

// Source returns a document's file.
func (c *Cursor) Source(doc uint32) *corpus.Source {
	c.seek(doc)
	return &c.t.Sources[c.block.File]
}

// Signature returns a document's signature.
func (c *Cursor) Signature(doc uint32) []uint32 {
	row, k := c.seek(doc), c.t.k
	if s := c.segment; s.resident {
		return s.Signatures[row*k : (row+1)*k]
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

// Set returns a document's feature set.
func (c *Cursor) Set(doc uint32) []uint64 {
	row := c.seek(doc)
	if c.segment.resident {
		return c.segment.set(row)
	}
	from, to := c.ends(doc, row)
	start, end := from.set, to.set
	c.set64 = words(c.set64[:0], c.checked(c.segment.layout.setAt(row, start), int64(end-start)*8))
	return c.set64
}

// SetSize returns how many features a document's set has, if the table has sets.
func (c *Cursor) SetSize(doc uint32) int {
	from, to := c.ends(doc, c.seek(doc))
	return int(to.set - from.set)
}

// ends returns the offsets at which the value and the set of a document begin and end.
func (c *Cursor) ends(doc uint32, row int) (from, to ends) {
	if s := c.segment; s.resident {
		return s.endsOf(row - 1), s.endsOf(row)
	}
	c.Doc(doc)
	if c.Err != nil {
		return ends{}, ends{}
	}
	return c.before(doc, row).ends, c.near[doc-c.nearAt].ends
}

// Value returns the value that was added with a document, see Filler.Add; empty if there is none.
func (c *Cursor) Value(doc uint32) []byte {
	_, value := c.values(doc)
	return value
}

// Within returns the value of a document that Options.Within or By is about.
func (c *Cursor) Within(doc uint32) []byte {
	within, _ := c.values(doc)
	return within
}

// WithinHash returns the hash of Within; 0 without Options.Within.
func (c *Cursor) WithinHash(doc uint32) recipe.Within {
	if !c.t.within {
		return 0
	}
	return recipe.WithinOf(c.Within(doc))
}

// values returns what Filler.Add was given.
func (c *Cursor) values(doc uint32) (within, value []byte) {
	stored := c.stored(doc)
	if !c.t.valued || c.Err != nil {
		return nil, stored
	}
	n, size := binary.Uvarint(stored)
	if size <= 0 || n > uint64(len(stored)-size) {
		c.fail(scratch.ErrDamaged)
		return nil, nil
	}
	return stored[size : size+int(n)], stored[size+int(n):]
}

func (c *Cursor) stored(doc uint32) []byte {
	row := c.seek(doc)
	if s := c.segment; s.resident {
		start, end := s.valueSpan(row)
		return s.values[start:end]
	}
	from, to := c.ends(doc, row)
	start, end := from.value, to.value
	return c.checked(c.segment.layout.valuesAt()+int64(start)+int64(row)*crcSize, int64(end-start))
}

// Meta returns the data of a document that keep rules use.
func (c *Cursor) Meta(doc uint32) cluster.Meta {
	d := *c.Doc(doc)
	m := cluster.Meta{Length: int64(d.TextSize), HasValue: d.HasValue()}
	if m.HasValue {
		m.Value = string(c.Value(doc))
	}
	return m
}

// RawIn returns a document's record in its block, read once more, of data that begin at an offset of the decoded file.
func (c *Cursor) RawIn(doc uint32, data []byte, offset int64) ([]byte, error) {
	d := c.Doc(doc)
	if c.Err != nil {
		return nil, c.Err
	}
	start := d.Offset() - offset
	if start < 0 || start+int64(d.Length) > int64(len(data)) {
		return nil, Changed(c.Label(doc))
	}
	return data[start : start+int64(d.Length)], nil
}

// Made tells whether a document's name was made of its place.
func (c *Cursor) Made(doc uint32) bool { return c.t.NamedByPlace(doc) || c.Doc(doc).IDHash == 0 }

// partReader reads the bytes of a segment that is in a part, until an error.
type partReader struct {
	t       *Table
	Err     error
	segment *segment
	sizes   int    // number of rows to read together; 0: the reader does not scan
	ahead   []byte // of the segment's part, from aheadAt, when scanning
	aheadAt int64
	bytes   []byte
}

func (r *partReader) file() *part { return &r.t.parts[r.segment.part] }

func (r *partReader) read(b []byte, offset int64) bool {
	if r.Err != nil {
		return false
	}
	if _, err := r.file().file.ReadAt(b, offset); err != nil {
		r.fail(err)
	}
	return r.Err == nil
}

func (r *partReader) fail(err error) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%s: %w", r.file().Name, err)
	}
}

// checked reads a row that is followed by its checksum.
func (r *partReader) checked(offset, length int64) []byte {
	if r.Err != nil {
		return nil
	}
	var b []byte
	var err error
	if r.sizes > 0 && r.readAhead(offset, length+crcSize) {
		b, err = r.file().checked(r.ahead[offset-r.aheadAt:][:length+crcSize], offset)
	} else if r.Err == nil {
		b, r.bytes, err = r.file().readChecked(r.bytes, offset, length)
	}
	if err != nil {
		r.fail(err)
	}
	if r.Err != nil {
		return nil
	}
	return b
}

// columnBytes is how many bytes of feature sets, signatures or values a cursor that scans reads at
// once.
const columnBytes = 64 << 10

// readAhead reports whether length bytes from offset on are in memory. It reads them together with
// the bytes behind them, unless they are many.
func (r *partReader) readAhead(offset, length int64) bool {
	if offset >= r.aheadAt && offset+length <= r.aheadAt+int64(len(r.ahead)) {
		return true
	}
	n := min(columnBytes, r.segment.layout.end()-offset)
	if length < crcSize || length > n {
		return false
	}
	r.ahead, r.aheadAt = scratch.Buffer(r.ahead, int(n)), offset
	if !r.read(r.ahead, offset) {
		r.ahead = r.ahead[:0]
		return false
	}
	return true
}
