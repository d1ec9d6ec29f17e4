package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// Field ids of PageHeader and the headers in it.
const (
	headType, headUncompressed, headCompressed, headCRC = 1, 2, 3, 4
	headData, headDictionary, headDataV2                = 5, 7, 8

	dataValues, dataEncoding, dataDefEncoding, dataRepEncoding, dataStatistics = 1, 2, 3, 4, 5
	dictValues, dictEncoding                                                   = 1, 2
	v2Values, v2Nulls, v2Rows, v2Encoding, v2DefLength, v2RepLength            = 1, 2, 3, 4, 5, 6
	v2IsCompressed, v2Statistics                                               = 7, 8
)

// maxPageValues bounds the values of a page: they take a few bytes each in memory, even where runs
// take almost no bytes in the file. Writers make pages of about a MiB.
const maxPageValues = 16 << 20

// DefaultMaxPage is how many bytes of a page are decoded into memory: writers make pages of about a
// MiB, a few put a whole row group into one.
const DefaultMaxPage = 256 << 20

// pageHead is the header of a page, with the place of its bytes.
type pageHead struct {
	fields       structure
	kind         format.PageType
	encoding     format.Encoding
	values       int // with nulls
	nulls, rows  int // -1: unknown
	uncompressed int // bytes, levels included
	compressed   int
	at           int64
	size         int // of the header

	defEncoding, repEncoding format.Encoding // of v1

	defLen, repLen int  // bytes of levels in v2
	packed         bool // the values of v2 are compressed
}

func (h *pageHead) isData() bool { return h.kind == format.DataPage || h.kind == format.DataPageV2 }

// end is where the next page starts.
func (h *pageHead) end() int64 { return h.at + int64(h.size) + int64(h.compressed) }

// parse reads the header at the start of b; errShort if b ends within it.
func (h *pageHead) parse(b []byte) error {
	fields, n, err := parseAs(b, new(format.PageHeader))
	if err != nil {
		return err
	}
	kind, _ := fields.int(headType)
	*h = pageHead{fields: fields, kind: format.PageType(kind), at: h.at, size: n, nulls: -1, rows: -1}
	h.uncompressed = int(fields.intOr(headUncompressed, -1))
	h.compressed = int(fields.intOr(headCompressed, -1))
	var sub structure
	ok := true
	switch h.kind {
	case format.DataPage:
		if sub, ok = fields.sub(headData); ok {
			h.values, h.encoding = int(sub.intOr(dataValues, -1)), format.Encoding(sub.intOr(dataEncoding, -1))
			h.defEncoding = format.Encoding(sub.intOr(dataDefEncoding, int64(format.RLE)))
			h.repEncoding = format.Encoding(sub.intOr(dataRepEncoding, int64(format.RLE)))
		}
	case format.DataPageV2:
		if sub, ok = fields.sub(headDataV2); ok {
			h.values, h.encoding = int(sub.intOr(v2Values, -1)), format.Encoding(sub.intOr(v2Encoding, -1))
			h.nulls, h.rows = int(sub.intOr(v2Nulls, -1)), int(sub.intOr(v2Rows, -1))
			h.defLen, h.repLen = int(sub.intOr(v2DefLength, -1)), int(sub.intOr(v2RepLength, -1))
			h.packed = sub.bool(v2IsCompressed, true)
			ok = h.defLen >= 0 && h.repLen >= 0 && h.rows >= 0 && h.nulls >= 0 && h.nulls <= h.values &&
				h.rows <= h.values && h.defLen+h.repLen <= min(h.uncompressed, h.compressed)
		}
	case format.DictionaryPage:
		if sub, ok = fields.sub(headDictionary); ok {
			h.values, h.encoding = int(sub.intOr(dictValues, -1)), format.Encoding(sub.intOr(dictEncoding, -1))
		}
	}
	if !ok || h.values < 0 || h.uncompressed < 0 || h.compressed < 0 || max(h.uncompressed, h.compressed) > math.MaxInt32 {
		return fmt.Errorf("%w: malformed page header at byte %d", ErrCorrupt, h.at)
	}
	return nil
}

// cursor walks over the pages of a chunk. It belongs to one goroutine at a time.
type cursor struct {
	f      *File
	c      *chunk
	limit  int64 // bytes of a page, see DefaultMaxPage
	pos    int64
	window []byte // bytes of the file, from windowAt on
	from   int64
}

const firstWindow, maxWindow = 4 << 10, 16 << 20

func (f *File) cursor(c *chunk, limit int64) *cursor {
	return &cursor{f: f, c: c, limit: limit, pos: c.start}
}

// next reads the header of the next page; io.EOF at the end of the chunk. The header does not refer
// to the cursor's memory.
func (k *cursor) next() (*pageHead, error) {
	if k.pos >= k.c.end {
		return nil, io.EOF
	}
	h := &pageHead{at: k.pos}
	for size := firstWindow; ; size *= 8 {
		b, err := k.bytes(size, size > firstWindow)
		if err != nil {
			return nil, err
		}
		if err = h.parse(b); err == nil {
			break
		}
		if !errors.Is(err, errShort) || int64(len(b)) == k.c.end-k.pos || size >= maxWindow {
			return nil, err
		}
	}
	h.fields = h.fields.clone()
	if h.end() > k.c.end {
		return nil, fmt.Errorf("%w: a page at byte %d that ends outside of its column", ErrCorrupt, h.at)
	}
	if int64(h.uncompressed) > k.limit || int64(h.compressed) > k.limit+k.limit/8 {
		return nil, fmt.Errorf("%w: a page of %d bytes", ErrUnsupported, max(h.uncompressed, h.compressed))
	}
	if h.isData() && h.values > maxPageValues {
		return nil, fmt.Errorf("%w: a page of %d values", ErrUnsupported, h.values)
	}
	k.pos = h.end()
	return h, nil
}

// bytes returns up to size bytes at pos: with fresh all that the chunk has, otherwise possibly
// fewer.
func (k *cursor) bytes(size int, fresh bool) ([]byte, error) {
	size = int(min(int64(size), k.c.end-k.pos))
	if at := k.pos - k.from; !fresh && at >= 0 && at+int64(min(size, 256)) <= int64(len(k.window)) {
		return k.window[at:], nil
	}
	k.window, k.from = grown(k.window, size), k.pos
	return k.window, readAt(k.f.r, k.window, k.pos)
}

// clone copies the bytes that the fields refer to.
func (s structure) clone() structure {
	n := 0
	for _, f := range s {
		n += len(f.raw)
	}
	raw := make([]byte, 0, n)
	for i, f := range s {
		from := len(raw)
		raw = append(raw, f.raw...)
		s[i].raw = raw[from:len(raw):len(raw)]
	}
	return s
}

// read reads the body of a page and checks it where the header has a checksum.
func (p *page) read(f *File, h *pageHead) error {
	p.body = grown(p.body, h.compressed)
	if err := readAt(f.r, p.body, h.at+int64(h.size)); err != nil {
		return err
	}
	if sum, ok := h.fields.int(headCRC); ok && crc32.ChecksumIEEE(p.body) != uint32(sum) {
		return fmt.Errorf("%w: a page at byte %d whose checksum is not right", ErrCorrupt, h.at)
	}
	return nil
}

// A page is a decoded page. Its slices keep their memory for the next use.
type page struct {
	rep, def []uint8 // levels; empty where the column has none
	values   values
	body     []byte // as in the file
	raw      []byte // the decompressed values, and the levels of v1
}

// unpack decompresses p.body and divides it into levels and values. The results refer to p.body and
// p.raw.
func (p *page) unpack(h *pageHead, c *chunk) (rep, def, vals []byte, err error) {
	body := p.body
	inflate := func(src []byte, n int) ([]byte, error) {
		if c.codec.plain() && n == len(src) {
			return src, nil
		}
		out, err := c.codec.decode(p.raw, src, n)
		if err == nil {
			p.raw = out
		}
		return out, err
	}
	if h.kind == format.DataPageV2 {
		levels := h.repLen + h.defLen
		rep, def, vals = body[:h.repLen], body[h.repLen:levels], body[levels:]
		if h.packed && h.uncompressed > levels {
			vals, err = inflate(vals, h.uncompressed-levels)
		}
		return rep, def, vals, err
	}
	if vals, err = inflate(body, h.uncompressed); err != nil || h.kind != format.DataPage {
		return nil, nil, vals, err
	}
	for _, l := range [...]struct {
		to       *[]byte
		most     int
		encoding format.Encoding
	}{{&rep, c.leaf.maxRep, h.repEncoding}, {&def, c.leaf.maxDef, h.defEncoding}} {
		if l.most == 0 {
			continue
		}
		if l.encoding != format.RLE {
			return nil, nil, nil, fmt.Errorf("%w: levels in encoding %v", ErrUnsupported, l.encoding)
		}
		if len(vals) < 4 || uint64(binary.LittleEndian.Uint32(vals)) > uint64(len(vals)-4) {
			return nil, nil, nil, errValues
		}
		n := int(binary.LittleEndian.Uint32(vals))
		*l.to, vals = vals[4:4+n], vals[4+n:]
	}
	return rep, def, vals, nil
}

// decode decodes p.body, a data page.
func (p *page) decode(h *pageHead, c *chunk, dict *values, limit int64) error {
	rep, def, vals, err := p.unpack(h, c)
	if err != nil {
		return err
	}
	if err := p.decodeLevels(h, c.leaf, rep, def); err != nil {
		return err
	}
	n := h.values
	if c.leaf.maxDef > 0 {
		n = c.leaf.present(p.def)
	}
	return p.values.decode(c.leaf, h.encoding, vals, n, dict, int(limit))
}

func (p *page) decodeLevels(h *pageHead, leaf *Leaf, rep, def []byte) error {
	p.rep, p.def = p.rep[:0], p.def[:0]
	if leaf.maxRep > 0 {
		p.rep = grown(p.rep, h.values)
		if err := checkedLevels(p.rep, rep, leaf.maxRep); err != nil {
			return err
		}
	}
	if leaf.maxDef > 0 {
		p.def = grown(p.def, h.values)
		if err := checkedLevels(p.def, def, leaf.maxDef); err != nil {
			return err
		}
	}
	return nil
}

func checkedLevels(dst []uint8, src []byte, most int) error {
	if err := decodeHybrid(dst, src, widthOf(most)); err != nil {
		return err
	}
	if most&(most+1) == 0 {
		return nil // every value of that width
	}
	for _, l := range dst {
		if int(l) > most {
			return errHybrid
		}
	}
	return nil
}

// present counts the values that are not null, by their levels.
func (l *Leaf) present(def []uint8) int { return bytes.Count(def, []byte{byte(l.maxDef)}) }

// dictionary decodes a dictionary page. The values own their memory.
func (f *File) dictionary(h *pageHead, c *chunk) (*values, error) {
	p := &page{}
	if err := p.read(f, h); err != nil {
		return nil, err
	}
	_, _, vals, err := p.unpack(h, c)
	if err != nil {
		return nil, err
	}
	if h.encoding != format.Plain && h.encoding != plainDictionary {
		return nil, fmt.Errorf("%w: a dictionary in encoding %v", ErrUnsupported, h.encoding)
	}
	v := &values{}
	return v, v.decode(c.leaf, format.Plain, vals, h.values, nil, 0)
}
