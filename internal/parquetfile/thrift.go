package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// Metadata of a Parquet file is Thrift in its compact protocol. It is kept here as fields with
// their encoded values, and a copy changes only the fields that it must: everything else is written
// back unchanged, including what this program does not know (a logical type of a later version, or
// an optional field that is absent rather than zero). Nothing is allocated for a length in the data
// before that many bytes are known to be there, and depth is bounded.

// Types of the compact protocol. A boolean field is one of the first two.
const (
	tTrue   = 1
	tFalse  = 2
	tI8     = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
	tUUID   = 13
)

// maxDepth bounds nesting: metadata of Parquet nests about ten deep.
const maxDepth = 32

// maxElements bounds lists: columns, row groups, pages of a chunk.
const maxElements = 1 << 20

// field is one field of a struct with its encoded value, which refers to the parsed bytes.
type field struct {
	id  int16
	typ byte
	raw []byte
}

// structure is a struct's fields in ascending order of their ids.
type structure []field

var (
	errThrift = fmt.Errorf("%w: malformed metadata", ErrCorrupt)
	// errShort says that the data may be good but ends too early.
	errShort = fmt.Errorf("%w: metadata breaks off", ErrCorrupt)
)

// parseAs is parseStruct for a struct that must have what the format requires of v, a pointer to one of
// parquet-go's structs: other programs refuse a file that lacks any of it.
func parseAs(b []byte, v any) (structure, int, error) {
	s, n, err := parseStruct(b)
	if err == nil {
		err = conform(v, b[:n])
	}
	return s, n, err
}

// parseWhole is parseAs for a struct that must fill all of b.
func parseWhole(b []byte, v any) (structure, error) {
	s, n, err := parseAs(b, v)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%w: %d bytes behind its end", errThrift, len(b)-n)
	}
	return s, err
}

// conform checks encoded structs of the type of v, which parseStruct has walked over: parquet-go's decoder bounds neither
// depth nor lists.
func conform(v any, encoded ...[]byte) error {
	for _, b := range encoded {
		d := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b))
		d.SetStrict(true)
		if err := d.Decode(v); err != nil {
			return fmt.Errorf("%w: %w", errThrift, err)
		}
	}
	return nil
}

// parseStruct parses the struct at the start of b and returns its length.
func parseStruct(b []byte) (structure, int, error) { return parseFields(nil, b, 0) }

// parseFields appends the fields of the outermost struct to s; fields of structs within it are
// skipped.
func parseFields(s structure, b []byte, depth int) (structure, int, error) {
	pos, last := 0, int16(0)
	for {
		if pos >= len(b) {
			return nil, 0, errShort
		}
		head := b[pos]
		pos++
		if head == 0 {
			return s, pos, nil
		}
		id, typ := last+int16(head>>4), head&15
		if head>>4 == 0 {
			v, n := binary.Varint(b[pos:])
			if n <= 0 || v < math.MinInt16 || v > math.MaxInt16 {
				return nil, 0, varintError(n)
			}
			id = int16(v)
			pos += n
		}
		if id <= last && (last > 0 || id < 0) {
			return nil, 0, errThrift // out of order, or twice
		}
		last = id
		n, err := valueSize(b[pos:], typ, true, depth)
		if err != nil {
			return nil, 0, err
		}
		if depth == 0 {
			s = append(s, field{id, typ, b[pos : pos+n : pos+n]})
		}
		pos += n
	}
}

func varintError(n int) error {
	if n == 0 {
		return errShort
	}
	return errThrift
}

// valueSize returns the length of the encoded value at the start of b. A boolean takes no byte as a
// field and one byte in a list.
func valueSize(b []byte, typ byte, asField bool, depth int) (int, error) {
	size := 0
	switch typ {
	case tTrue, tFalse:
		if !asField {
			size = 1
		}
	case tI8:
		size = 1
	case tI16, tI32, tI64:
		v, n := binary.Varint(b)
		if n <= 0 {
			return 0, varintError(n)
		}
		if typ == tI16 && v != int64(int16(v)) || typ == tI32 && v != int64(int32(v)) {
			return 0, errThrift
		}
		return n, nil
	case tDouble:
		size = 8
	case tUUID:
		size = 16
	case tBinary:
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxInt32 {
			return 0, varintError(n)
		}
		size = n + int(v)
	case tList, tSet, tMap, tStruct:
		if depth == maxDepth {
			return 0, errThrift
		}
		return nestedSize(b, typ, depth+1)
	default:
		return 0, errThrift
	}
	if size > len(b) {
		return 0, errShort
	}
	return size, nil
}

func nestedSize(b []byte, typ byte, depth int) (int, error) {
	if typ == tStruct {
		_, n, err := parseFields(nil, b, depth)
		return n, err
	}
	var types [2]byte
	var kinds, count, pos int
	if typ == tMap {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxInt32 {
			return 0, varintError(n)
		}
		if v == 0 {
			return n, nil
		}
		if n >= len(b) {
			return 0, errShort
		}
		types, kinds, count, pos = [2]byte{b[n] >> 4, b[n] & 15}, 2, int(v), n+1
	} else {
		elem, n, head, err := listHeader(b)
		if err != nil {
			return 0, err
		}
		types, kinds, count, pos = [2]byte{elem}, 1, n, head
	}
	for range count {
		for _, t := range types[:kinds] {
			n, err := valueSize(b[pos:], t, false, depth)
			if err != nil {
				return 0, err
			}
			pos += n
		}
	}
	return pos, nil
}

// listHeader returns the type and number of a list's elements and the offset at which they start.
func listHeader(b []byte) (elem byte, count, head int, err error) {
	if len(b) == 0 {
		return 0, 0, 0, errShort
	}
	elem, count, head = b[0]&15, int(b[0]>>4), 1
	if count == 15 {
		v, n := binary.Uvarint(b[1:])
		if n <= 0 || v > math.MaxInt32 {
			return 0, 0, 0, varintError(n)
		}
		count, head = int(v), 1+n
	}
	if count > maxElements {
		return 0, 0, 0, errThrift
	}
	return elem, count, head, nil
}

func (s structure) find(id int16) *field {
	for i := range s {
		if s[i].id == id {
			return &s[i]
		}
	}
	return nil
}

func (s structure) has(id int16) bool { return s.find(id) != nil }

// int returns an integer field; ok is false if it is absent.
func (s structure) int(id int16) (v int64, ok bool) {
	f := s.find(id)
	if f == nil {
		return 0, false
	}
	switch f.typ {
	case tI8:
		return int64(int8(f.raw[0])), true
	case tI16, tI32, tI64:
		v, _ = binary.Varint(f.raw)
		return v, true
	}
	return 0, false
}

// intOr returns an integer field, or absent if there is none.
func (s structure) intOr(id int16, absent int64) int64 {
	if v, ok := s.int(id); ok {
		return v
	}
	return absent
}

// bool returns a boolean field, or absent if there is none.
func (s structure) bool(id int16, absent bool) bool {
	f := s.find(id)
	if f == nil || f.typ != tTrue && f.typ != tFalse {
		return absent
	}
	return f.typ == tTrue
}

// bytes returns a binary field; ok is false if it is absent.
func (s structure) bytes(id int16) (v []byte, ok bool) {
	f := s.find(id)
	if f == nil || f.typ != tBinary {
		return nil, false
	}
	return binaryValue(f.raw), true
}

func binaryValue(raw []byte) []byte {
	_, n := binary.Uvarint(raw)
	return raw[n:]
}

// sub returns a field that is a struct; ok is false if it is absent.
func (s structure) sub(id int16) (structure, bool) {
	f := s.find(id)
	if f == nil || f.typ != tStruct {
		return nil, false
	}
	sub, _, err := parseStruct(f.raw)
	return sub, err == nil
}

// list returns the encoded elements of a list of type elem; ok is false if it
// is absent or of another type.
func (s structure) list(id int16, elem byte) (elems [][]byte, ok bool) {
	f := s.find(id)
	if f == nil || f.typ != tList {
		return nil, false
	}
	typ, count, pos, err := listHeader(f.raw)
	if elem == tTrue && typ == tFalse { // either means boolean
		typ = tTrue
	}
	if err != nil || typ != elem && count > 0 {
		return nil, false
	}
	for range count {
		n, err := valueSize(f.raw[pos:], typ, false, 0)
		if err != nil {
			return nil, false
		}
		elems = append(elems, f.raw[pos:pos+n:pos+n])
		pos += n
	}
	return elems, true
}

// structs returns the elements of a list of structs.
func (s structure) structs(id int16) ([]structure, error) {
	elems, ok := s.list(id, tStruct)
	if !ok {
		return nil, errThrift
	}
	all := make([]structure, len(elems))
	for i, e := range elems {
		var err error
		if all[i], _, err = parseStruct(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// edit returns a copy of s whose fields can be set without changing s.
func (s structure) edit() structure { return slices.Clone(s) }

// set replaces or inserts a field.
func (s *structure) set(id int16, typ byte, raw []byte) {
	if f := s.find(id); f != nil {
		f.typ, f.raw = typ, raw
		return
	}
	i := 0
	for i < len(*s) && (*s)[i].id < id {
		i++
	}
	*s = slices.Insert(*s, i, field{id, typ, raw})
}

func (s *structure) setInt(id int16, typ byte, v int64) { s.set(id, typ, binary.AppendVarint(nil, v)) }

func (s *structure) setBytes(id int16, v []byte) { s.set(id, tBinary, appendBinary(nil, v)) }

func (s *structure) setStruct(id int16, v structure) { s.set(id, tStruct, v.append(nil)) }

func (s *structure) setBool(id int16, v bool) {
	typ := byte(tFalse)
	if v {
		typ = tTrue
	}
	s.set(id, typ, nil)
}

// setList sets a list of encoded elements.
func (s *structure) setList(id int16, elem byte, elems [][]byte) {
	s.set(id, tList, appendList(nil, elem, elems))
}

func (s *structure) del(ids ...int16) {
	*s = slices.DeleteFunc(*s, func(f field) bool { return slices.Contains(ids, f.id) })
}

// append appends the encoded struct to dst.
func (s structure) append(dst []byte) []byte {
	last := int16(0)
	for _, f := range s {
		if d := f.id - last; d > 0 && d <= 15 {
			dst = append(dst, byte(d)<<4|f.typ)
		} else {
			dst = binary.AppendVarint(append(dst, f.typ), int64(f.id))
		}
		dst = append(dst, f.raw...)
		last = f.id
	}
	return append(dst, 0)
}

func appendBinary(dst, v []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}

func appendList(dst []byte, elem byte, elems [][]byte) []byte {
	if len(elems) < 15 {
		dst = append(dst, byte(len(elems))<<4|elem)
	} else {
		dst = binary.AppendUvarint(append(dst, 0xf0|elem), uint64(len(elems)))
	}
	for _, e := range elems {
		dst = append(dst, e...)
	}
	return dst
}
