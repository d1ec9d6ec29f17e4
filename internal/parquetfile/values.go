package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// values are the decoded values of a page or a dictionary, without nulls. Slices keep their memory
// for the next use.
type values struct {
	n     int
	width int // of fixed-size values, which lie one after the other in data; 0: see spans
	data  []byte
	spans []span // of byte arrays in data

	dict  *values  // the values are dict's, at index
	index []uint32 // below dict.n

	lengths []int64 // scratch
	own     []byte  // memory of data, where it does not refer to the page
}

// span is a place in values.data.
type span struct{ from, to uint32 }

func (v *values) at(i int) []byte {
	if v.dict != nil {
		v, i = v.dict, int(v.index[i])
	}
	if v.width > 0 {
		return v.data[i*v.width : (i+1)*v.width]
	}
	s := v.spans[i]
	return v.data[s.from:s.to]
}

// longest returns the size of the longest value.
func (v *values) longest() int {
	most := v.width
	for _, s := range v.spans {
		most = max(most, int(s.to-s.from))
	}
	return most
}

var errValues = fmt.Errorf("%w: values that do not fit their page", ErrCorrupt)

// plainDictionary is the code of old writers for the encodings of a dictionary and of indexes into
// it.
const plainDictionary format.Encoding = 2

func isDictionary(e format.Encoding) bool {
	return e == format.RLEDictionary || e == plainDictionary
}

// grown returns s with length n; its content is lost.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// decode makes v the n values of a column that are in src; v refers to src from then on. limit
// bounds the bytes that prefix compression may expand to.
func (v *values) decode(leaf *Leaf, encoding format.Encoding, src []byte, n int, dict *values, limit int) error {
	v.n, v.width, v.dict, v.spans = n, leaf.width, nil, v.spans[:0]
	if n == 0 {
		return nil
	}
	switch {
	case isDictionary(encoding):
		return v.decodeIndex(src, n, dict)
	case encoding == format.Plain && leaf.physical == boolean:
		return v.decodeBits(src, n)
	case encoding == format.Plain && leaf.width > 0:
		if n > len(src)/leaf.width {
			return errValues
		}
		v.data = src
	case encoding == format.Plain:
		return v.decodePlain(src, n)
	case encoding == format.RLE && leaf.physical == boolean:
		if len(src) < 4 || uint64(binary.LittleEndian.Uint32(src)) > uint64(len(src)-4) {
			return errValues
		}
		v.own = grown(v.own, n)
		v.data = v.own
		return decodeHybrid(v.data, src[4:4+binary.LittleEndian.Uint32(src)], 1)
	case encoding == format.ByteStreamSplit && leaf.width > 0 && leaf.physical != boolean && leaf.physical != int96s:
		return v.decodeSplit(src, n)
	case encoding == format.DeltaBinaryPacked && (leaf.physical == int32s || leaf.physical == int64s):
		return v.decodeDelta(src, n)
	case encoding == format.DeltaLengthByteArray && leaf.physical == byteArrays:
		return v.decodeLengths(src, n)
	case encoding == format.DeltaByteArray && (leaf.physical == byteArrays || leaf.physical == fixedArrays):
		return v.decodePrefixes(leaf, src, n, limit)
	default:
		return fmt.Errorf("%w: encoding %v of %v", ErrUnsupported, encoding, leaf.physical)
	}
	return nil
}

func (v *values) decodeIndex(src []byte, n int, dict *values) error {
	if dict == nil || len(src) == 0 || src[0] > 32 {
		return errValues
	}
	v.dict, v.index = dict, grown(v.index, n)
	if err := decodeHybrid(v.index, src[1:], int(src[0])); err != nil {
		return err
	}
	for _, i := range v.index {
		if int(i) >= dict.n {
			return errValues
		}
	}
	return nil
}

// decodeBits widens booleans to a byte each.
func (v *values) decodeBits(src []byte, n int) error {
	if n > 8*len(src) {
		return errValues
	}
	v.own = grown(v.own, n)
	v.data = v.own
	for i := range v.data {
		v.data[i] = src[i>>3] >> (i & 7) & 1
	}
	return nil
}

// decodePlain finds byte arrays, each after its length in four bytes.
func (v *values) decodePlain(src []byte, n int) error {
	if n > len(src)/4 || len(src) > math.MaxInt32 {
		return errValues
	}
	v.data, v.spans = src, grown(v.spans, n)
	at := 0
	for i := range v.spans {
		if len(src)-at < 4 {
			return errValues
		}
		size := int(binary.LittleEndian.Uint32(src[at:]))
		at += 4
		if size > len(src)-at {
			return errValues
		}
		v.spans[i] = span{uint32(at), uint32(at + size)}
		at += size
	}
	return nil
}

// decodeSplit reassembles values that are stored as all their first bytes, then all their second
// bytes, and so on.
func (v *values) decodeSplit(src []byte, n int) error {
	if len(src)%v.width != 0 || len(src)/v.width != n {
		return errValues
	}
	v.own = grown(v.own, n*v.width)
	v.data = v.own
	for k := range v.width {
		for i, b := range src[k*n : (k+1)*n] {
			v.data[i*v.width+k] = b
		}
	}
	return nil
}

func (v *values) decodeDelta(src []byte, n int) error {
	if _, err := v.deltas(src, n); err != nil {
		return err
	}
	v.own = grown(v.own, n*v.width)
	v.data = v.own
	for i, x := range v.lengths {
		if v.width == 4 {
			binary.LittleEndian.PutUint32(v.data[4*i:], uint32(x))
		} else {
			binary.LittleEndian.PutUint64(v.data[8*i:], uint64(x))
		}
	}
	return nil
}

// decodeLengths finds byte arrays whose lengths precede all of them.
func (v *values) decodeLengths(src []byte, n int) error {
	rest, err := v.deltas(src, n)
	if err != nil || len(rest) > math.MaxInt32 {
		return errValues
	}
	v.data, v.spans = rest, grown(v.spans, n)
	at := int64(0)
	for i, size := range v.lengths {
		if size < 0 || size > int64(len(rest))-at {
			return errValues
		}
		v.spans[i] = span{uint32(at), uint32(at + size)}
		at += size
	}
	return nil
}

// decodePrefixes reassembles byte arrays that share a prefix with the one before.
func (v *values) decodePrefixes(leaf *Leaf, src []byte, n, limit int) error {
	rest, err := v.deltas(src, n)
	if err != nil {
		return err
	}
	shared := append([]int64(nil), v.lengths...)
	if rest, err = v.deltas(rest, n); err != nil {
		return err
	}
	total := int64(0)
	for i, own := range v.lengths {
		if own < 0 || shared[i] < 0 || own > int64(len(rest)) || shared[i] > int64(limit) {
			return errValues
		}
		if total += own + shared[i]; total > int64(limit) {
			return fmt.Errorf("%w: a page of more than %d bytes", ErrUnsupported, limit)
		}
	}
	v.own, v.spans = grown(v.own, int(total))[:0], grown(v.spans, n)
	last := span{}
	for i, own := range v.lengths {
		if shared[i] > int64(last.to-last.from) || own > int64(len(rest)) {
			return errValues
		}
		from := uint32(len(v.own))
		v.own = append(v.own, v.own[last.from:int64(last.from)+shared[i]]...)
		v.own = append(v.own, rest[:own]...)
		rest = rest[own:]
		last = span{from, uint32(len(v.own))}
		v.spans[i] = last
		if leaf.width > 0 && int(last.to-last.from) != leaf.width {
			return errValues
		}
	}
	v.data = v.own
	return nil
}

// deltas decodes DELTA_BINARY_PACKED integers into v.lengths and returns what
// follows them:
//
//	header  uvarint block size, uvarint miniblocks a block, uvarint count, varint first value
//	block   varint least delta, a width for each miniblock, then packed (delta − least)
//
// Miniblocks behind the last value may be missing.
func (v *values) deltas(src []byte, n int) (rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		x, size := binary.Uvarint(src)
		if size <= 0 {
			return nil, errValues
		}
		head[i], src = x, src[size:]
	}
	last, size := binary.Varint(src)
	block, minis := head[0], head[1]
	if size <= 0 || head[2] != uint64(n) || block > 1<<20 || minis == 0 || block%(8*minis) != 0 || block == 0 {
		return nil, errValues
	}
	src = src[size:]
	v.lengths = grown(v.lengths, n)
	if n == 0 {
		return src, nil
	}
	v.lengths[0] = last
	each := int(block / minis)
	for i := 1; i < n; {
		least, size := binary.Varint(src)
		if size <= 0 || uint64(len(src)-size) < minis {
			return nil, errValues
		}
		widths := src[size : size+int(minis)]
		src = src[size+int(minis):]
		for _, width := range widths {
			if i == n {
				break
			}
			count := min(each, n-i)
			have := min(each/8*int(width), len(src))
			if width > 64 || count*int(width) > 8*have {
				return nil, errValues
			}
			for k := range count {
				last += least + int64(bitsAt(src[:have], k*int(width), int(width)))
				v.lengths[i+k] = last
			}
			i, src = i+count, src[have:]
		}
	}
	return src, nil
}

// bitsAt returns width bits, at most 64, of src from bit at on.
func bitsAt(src []byte, at, width int) uint64 {
	var window [16]byte
	b := src[min(at>>3, len(src)):]
	if len(b) < 9 {
		copy(window[:], b)
		b = window[:]
	}
	shift := at & 7
	x := binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<(64-shift)
	if width == 64 {
		return x
	}
	return x & (1<<width - 1)
}
