package doctable

import (
	"encoding/binary"
	"math"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
)

// Document is the data of a document that the engine keeps while it works: 48 bytes, without its band keys
// or the hashes of its features. All stages go through millions of them again and again, so data that few
// runs need are elsewhere (segment.ends).
type Document struct {
	Digest   uint64 // of the features, with repeats and regardless of order: 64 bits of it; Check has more
	IDHash   uint64 // of its own id; 0 when it has none
	place    uint64 // offset of the record in the file's decoded stream, below 2⁴⁸, << 16 | hasValue | keyed | number of hashes
	Check    uint32 // see Check
	idEnd    uint32 // end of its id in the segment's ids
	Length   uint32 // bytes of the record
	TextSize uint32 // bytes of the text
	Features uint32 // count, with repeats
	Line     uint32 // within its block, from 0
}

const (
	placeShift = 16
	hasValue   = 1 << 15   // it has a value
	keyed      = 1 << 14   // it has band keys
	mostHashes = 1<<14 - 1 // of features
	flagsMask  = 1<<placeShift - 1
)

// At returns the document with the offset of its record in the file's decoded stream.
func (d Document) At(offset int64) Document {
	d.place = uint64(offset)<<placeShift | d.place&flagsMask
	return d
}

// Offset returns the offset of the record in the file's decoded stream.
func (d *Document) Offset() int64 { return int64(d.place >> placeShift) }

// HasValue tells whether a value was added with the document: see Filler.Add.
func (d *Document) HasValue() bool { return d.place&hasValue != 0 }

func (d *Document) keyed() bool { return d.place&keyed != 0 }

// hashes returns the number of hashes of its features.
func (d *Document) hashes() int { return int(d.place & mostHashes) }

// ends are the ends of a document's data that few runs have.
type ends struct {
	value uint32 // in the segment's values: the keep rule's field, or the document that it is like
	set   uint32 // in the segment's features
}

// segment holds the columns of some blocks' documents, as one worker has read them: in memory, or
// in a part of the work folder.
type segment struct {
	rows   int
	keyed  int     // documents with band keys
	hashed int     // number of hashes, while it is filled
	blocks []int32 // its blocks in table.blocks, in the order of their rows

	columns

	resident               bool  // the columns are in memory
	part                   int32 // index in table.parts; -1: none
	layout                 layout
	firstBlock, blockCount int // its blocks in table.blocks until these are ordered
}

// columns are the data of a segment's documents.
type columns struct {
	docs       []Document
	ends       []ends // for each of docs; empty if there are neither values nor feature sets
	ids        []byte
	values     []byte
	Keys       []uint64 // of documents that have any: by document while the segment is filled, later by band
	Hashes     []uint32 // of features, document by document
	Signatures []uint32 // k a document
	Features   []uint64 // feature sets, one after the other
}

// add adds a document whose columns were filled.
func (s *segment) add(d Document, value bool, bands int) {
	d.place = d.place&^flagsMask | uint64(len(s.Hashes)-s.hashed)
	if value {
		d.place |= hasValue
	}
	if len(s.Keys) > s.keyed*bands {
		d.place |= keyed
		s.keyed++
	}
	s.hashed = len(s.Hashes)
	d.idEnd = uint32(len(s.ids))
	if len(s.values)+len(s.Features)+len(s.ends) > 0 {
		for len(s.ends) < len(s.docs) {
			s.ends = append(s.ends, ends{})
		}
		s.ends = append(s.ends, ends{uint32(len(s.values)), uint32(len(s.Features))})
	}
	s.docs = append(s.docs, d)
}

// endsOf returns the ends of a row; before the first row they are zero.
func (s *segment) endsOf(row int) ends {
	if row < 0 || len(s.ends) == 0 {
		return ends{}
	}
	return s.ends[row]
}

// cut keeps only the first rows of a segment that is being filled.
func (s *segment) cut(rows, bands, k int) {
	idEnd, last := uint32(0), s.endsOf(rows-1)
	if rows > 0 {
		idEnd = s.docs[rows-1].idEnd
	}
	keyed, hashes := count(s.docs[rows:])
	s.keyed -= keyed
	s.Keys, s.Hashes = s.Keys[:s.keyed*bands], s.Hashes[:s.hashed-hashes]
	s.hashed -= hashes
	s.docs, s.ids, s.values = s.docs[:rows], s.ids[:idEnd], s.values[:last.value]
	s.ends = s.ends[:min(rows, len(s.ends))]
	s.Signatures, s.Features = s.Signatures[:rows*k], s.Features[:last.set]
}

// count returns how many of the documents have keys, and the number of their hashes.
func count(docs []Document) (keyed, hashes int) {
	for i := range docs {
		if docs[i].keyed() {
			keyed++
		}
		hashes += docs[i].hashes()
	}
	return keyed, hashes
}

// layout gives the places of a segment's columns in its part.
//
// Every row of every column has a checksum of its own kind, so that single rows can be read and trusted:
// a document's record ends with a CRC-32C, an id is compared with its hash, and a CRC-32C follows a
// value, a signature and a feature set, and the columns of one band's keys and of hashes. Every CRC-32C
// also depends on the part and the place: see part.sum.
type layout struct {
	offset                      int64 // of the first column
	rows, ids, values, features int64 // documents; bytes of ids and values; elements of all sets
	keyed, hashes               int64 // documents with keys; elements of all hashes
	bands, k                    int64 // per document; k is 0 when there are no signatures
	hasSets                     bool
}

const (
	documentSize = 60
	crcSize      = durable.ChecksumSize
)

func (l *layout) docsAt() int64   { return l.offset }
func (l *layout) idsAt() int64    { return l.docsAt() + l.rows*documentSize }
func (l *layout) valuesAt() int64 { return l.idsAt() + l.ids }
func (l *layout) keysAt() int64   { return l.valuesAt() + l.values }

// bandSize is the size of the column of one band's keys.
func (l *layout) bandSize() int64     { return l.keyed*8 + crcSize }
func (l *layout) hashesAt() int64     { return l.keysAt() + l.bands*l.bandSize() }
func (l *layout) signaturesAt() int64 { return l.hashesAt() + l.hashes*4 + crcSize }
func (l *layout) signatureSize() int64 {
	if l.k == 0 {
		return 0
	}
	return l.k*4 + crcSize
}
func (l *layout) featuresAt() int64 { return l.signaturesAt() + l.rows*l.signatureSize() }

// setAt returns the offset of the set of a row that begins behind the given number of elements.
func (l *layout) setAt(row int, elements uint32) int64 {
	return l.featuresAt() + int64(elements)*8 + int64(row)*crcSize
}

func (l *layout) end() int64 {
	if !l.hasSets {
		return l.featuresAt()
	}
	return l.setAt(int(l.rows), uint32(l.features))
}

// size returns the bytes that the segment holds in memory.
func (s *segment) size() int64 {
	return columnBytesOf(cap(s.docs), cap(s.ends), cap(s.ids)+cap(s.values), cap(s.Keys)+cap(s.Features), cap(s.Signatures)+cap(s.Hashes))
}

// filled returns the bytes that the documents take, without spare capacity.
func (s *segment) filled() int64 {
	return columnBytesOf(len(s.docs), len(s.ends), len(s.ids)+len(s.values), len(s.Keys)+len(s.Features), len(s.Signatures)+len(s.Hashes))
}

func columnBytesOf(docs, ends, bytes, words, components int) int64 {
	return int64(docs)*48 + int64(ends)*8 + int64(bytes) + int64(words)*8 + int64(components)*4
}

// idSpan returns the range of a row's id in the ids.
func (s *segment) idSpan(row int) (start, end uint32) {
	if row > 0 {
		start = s.docs[row-1].idEnd
	}
	return start, s.docs[row].idEnd
}

func (s *segment) valueSpan(row int) (start, end uint32) {
	return s.endsOf(row - 1).value, s.endsOf(row).value
}

func (s *segment) set(row int) []uint64 {
	end := s.endsOf(row).set
	return s.Features[s.endsOf(row-1).set:end:end]
}

// seal ends the filling: it reorders keys by band, since they are read in that order.
func (s *segment) seal(bands int) {
	s.rows = len(s.docs)
	if s.keyed*bands == 0 {
		return
	}
	byBand := make([]uint64, s.keyed*bands)
	for i := range s.keyed {
		for band, key := range s.Keys[i*bands : (i+1)*bands] {
			byBand[band*s.keyed+i] = key
		}
	}
	s.Keys = byBand
}

// appendTo appends the columns in the form of a part, and sets the layout for a segment that begins
// at offset. dst is empty.
func (s *segment) appendTo(dst []byte, p *part, offset int64, bands, k int, hasSets bool) []byte {
	sealed := func(fill func([]byte) []byte) {
		dst = p.appendSealed(dst, offset+int64(len(dst)), fill)
	}
	s.layout = layout{
		offset: offset, rows: int64(s.rows), ids: int64(len(s.ids)), values: int64(len(s.values)) + int64(s.rows)*crcSize,
		keyed: int64(s.keyed), hashes: int64(len(s.Hashes)), features: int64(len(s.Features)), bands: int64(bands), k: int64(k), hasSets: hasSets,
	}
	for i := range s.docs {
		sealed(func(b []byte) []byte { return appendDocument(b, &s.docs[i], s.endsOf(i)) })
	}
	dst = append(dst, s.ids...)
	for row := range s.rows {
		start, end := s.valueSpan(row)
		sealed(func(b []byte) []byte { return append(b, s.values[start:end]...) })
	}
	for band := range bands {
		sealed(func(b []byte) []byte { return appendWords(b, s.Keys[band*s.keyed:(band+1)*s.keyed]) })
	}
	sealed(func(b []byte) []byte { return appendHalves(b, s.Hashes) })
	if k > 0 {
		for row := range s.rows {
			sealed(func(b []byte) []byte { return appendHalves(b, s.Signatures[row*k:(row+1)*k]) })
		}
	}
	if hasSets {
		for row := range s.rows {
			sealed(func(b []byte) []byte { return appendWords(b, s.set(row)) })
		}
	}
	return dst
}

// drop gives back the memory of the columns, which are in a part.
func (s *segment) drop() {
	s.columns = columns{}
	s.resident = false
}

func appendWords(dst []byte, words []uint64) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func appendHalves(dst []byte, halves []uint32) []byte {
	for _, h := range halves {
		dst = binary.LittleEndian.AppendUint32(dst, h)
	}
	return dst
}

func appendDocument(dst []byte, d *Document, e ends) []byte {
	dst = appendWords(dst, []uint64{d.Digest, d.place, d.IDHash})
	return appendHalves(dst, []uint32{d.Check, d.idEnd, e.value, e.set, d.Length, d.TextSize, d.Features, d.Line})
}

// storedDocument is a row of a part.
type storedDocument struct {
	Document
	ends
}

// readDocument reads the document at the beginning of b, which is at offset in the part.
func (p *part) readDocument(b []byte, offset int64, d *storedDocument) error {
	b, err := p.checked(b[:documentSize], offset)
	if err != nil {
		return err
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	half := func(i int) uint32 { return binary.LittleEndian.Uint32(b[24+4*i:]) }
	*d = storedDocument{
		Document{Digest: word(0), place: word(1), IDHash: word(2), Check: half(0), idEnd: half(1), Length: half(4),
			TextSize: half(5), Features: half(6), Line: half(7)},
		ends{half(2), half(3)},
	}
	return nil
}

// sum is the checksum of bytes at offset in a part. It differs for every part and every offset, so
// that bytes moved there from elsewhere count as damage.
func (p *part) sum(b []byte, offset int64) uint32 {
	return durable.Checksum(uint32(p.ID)+uint32(offset), b)
}

// appendSealed appends the bytes that fill appends at offset, and their checksum.
func (p *part) appendSealed(dst []byte, offset int64, fill func([]byte) []byte) []byte {
	start := len(dst)
	dst = fill(dst)
	return binary.LittleEndian.AppendUint32(dst, p.sum(dst[start:], offset))
}

// checked returns b, which is at offset, without the checksum at its end.
func (p *part) checked(b []byte, offset int64) ([]byte, error) {
	n := len(b) - crcSize
	if p.sum(b[:n], offset) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, scratch.ErrDamaged
	}
	return b[:n], nil
}

// readChecked reads length bytes and the checksum behind them, into buf if they fit.
func (p *part) readChecked(buf []byte, offset, length int64) (data, read []byte, err error) {
	if length < 0 || length > math.MaxInt32 {
		return nil, buf, scratch.ErrDamaged
	}
	buf = scratch.Buffer(buf, int(length)+crcSize)
	if _, err := p.file.ReadAt(buf, offset); err != nil {
		return nil, buf, fault.InWorkFolder(err)
	}
	data, err = p.checked(buf, offset)
	return data, buf, err
}

// halves appends the words that appendHalves has written.
func halves(dst []uint32, b []byte) []uint32 {
	for ; len(b) >= 4; b = b[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(b))
	}
	return dst
}

func words(dst []uint64, b []byte) []uint64 {
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}
