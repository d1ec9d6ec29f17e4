package parquetfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/bitset"
)

// filter makes pages without some of their rows. It owns scratch memory and
// belongs to one goroutine.
type filter struct {
	page    *page
	runs    []span // of kept values
	index   []uint32
	offsets []uint32
	gather  []byte
	encoded []byte
	packed  []byte
}

// kept describes the kept part of a page.
type kept struct {
	rows, levels, nulls int
	bounds              bounds
}

// choose keeps the levels of the rows in keep and finds the runs of their values. first is the
// first row that starts in the page; values before its start belong to the row before.
func (f *filter) choose(leaf *Leaf, levels int, keep bitset.Set[int], first int) kept {
	p := f.page
	f.runs = f.runs[:0]
	k, value, out := kept{}, 0, 0
	row := first - 1
	keeps := row >= 0 && leaf.maxRep > 0 && keep.Has(row)
	for i := range levels {
		if leaf.maxRep == 0 || p.rep[i] == 0 {
			row++
			if keeps = keep.Has(row); keeps {
				k.rows++
			}
		}
		present := leaf.maxDef == 0 || int(p.def[i]) == leaf.maxDef
		if keeps {
			if leaf.maxRep > 0 {
				p.rep[out] = p.rep[i]
			}
			if leaf.maxDef > 0 {
				p.def[out] = p.def[i]
			}
			out++
			if !present {
				k.nulls++
			} else if n := len(f.runs); n > 0 && int(f.runs[n-1].to) == value {
				f.runs[n-1].to++
			} else {
				f.runs = append(f.runs, span{uint32(value), uint32(value) + 1})
			}
		}
		if present {
			value++
		}
	}
	if leaf.maxRep > 0 {
		p.rep = p.rep[:out]
	}
	if leaf.maxDef > 0 {
		p.def = p.def[:out]
	}
	k.levels = out
	return k
}

// each calls do with every kept value.
func (f *filter) each(do func(v []byte)) {
	for _, r := range f.runs {
		for i := int(r.from); i < int(r.to); i++ {
			do(f.page.values.at(i))
		}
	}
}

// encode appends the kept values, encoded as those of the page were. remap gives the new index of
// each value of the dictionary.
func (f *filter) encode(dst []byte, leaf *Leaf, as format.Encoding, remap []uint32) ([]byte, error) {
	v := &f.page.values
	switch {
	case isDictionary(as):
		f.index = f.index[:0]
		for _, r := range f.runs {
			for _, i := range v.index[r.from:r.to] {
				f.index = append(f.index, remap[i])
			}
		}
		width := 0
		for _, i := range f.index {
			width = max(width, widthOf(int(i)))
		}
		dst = appendHybrid(append(dst, byte(width)), f.index, width)
	case as == format.Plain && leaf.physical != boolean:
		f.each(func(v []byte) {
			if leaf.width == 0 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
			}
			dst = append(dst, v...)
		})
	case leaf.physical == boolean:
		f.collect()
		if as == format.RLE {
			start := len(dst)
			dst = appendHybrid(append(dst, 0, 0, 0, 0), f.gather, 1)
			binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
		} else if len(f.gather) > 0 {
			run := appendPacked(nil, f.gather, 1)
			dst = append(dst, run[len(run)-(len(f.gather)+7)/8:]...) // without the head of a run
		}
	default:
		n := f.collect()
		encoded, err := f.encodeAs(leaf, encodingOf(as))
		if err != nil && n > 0 {
			return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		dst = append(dst, encoded...)
	}
	return dst, nil
}

// collect copies the kept values one after the other into f.gather, and, if their sizes differ,
// their offsets into f.offsets. It returns their number.
func (f *filter) collect() int {
	f.gather, f.offsets = f.gather[:0], append(f.offsets[:0], 0)
	n := 0
	f.each(func(v []byte) {
		f.gather = append(f.gather, v...)
		f.offsets = append(f.offsets, uint32(len(f.gather)))
		n++
	})
	return n
}

// encodingOf returns what encodes values that are not plain.
func encodingOf(as format.Encoding) encoding.Encoding {
	switch as {
	case format.DeltaBinaryPacked:
		return new(delta.BinaryPackedEncoding)
	case format.DeltaLengthByteArray:
		return new(delta.LengthByteArrayEncoding)
	case format.DeltaByteArray:
		return new(delta.ByteArrayEncoding)
	case format.ByteStreamSplit:
		return new(bytestreamsplit.Encoding)
	}
	return encoding.NotSupported{}
}

// encodeAs encodes the values that collect has copied.
func (f *filter) encodeAs(leaf *Leaf, as encoding.Encoding) ([]byte, error) {
	v := f.gather
	switch leaf.physical {
	case int32s:
		return encoding.EncodeInt32(nil, encoding.Int32ValuesFromBytes(v), as)
	case int64s:
		return encoding.EncodeInt64(nil, encoding.Int64ValuesFromBytes(v), as)
	case floats:
		return encoding.EncodeFloat(nil, encoding.FloatValuesFromBytes(v), as)
	case doubles:
		return encoding.EncodeDouble(nil, encoding.DoubleValuesFromBytes(v), as)
	case byteArrays:
		return encoding.EncodeByteArray(nil, encoding.ByteArrayValues(v, f.offsets), as)
	}
	return encoding.EncodeFixedLenByteArray(nil, encoding.FixedLenByteArrayValues(v, leaf.width), as)
}

// assemble appends the page of the kept values, packed by codec, with its header, to dst. It also returns
// the length of the page without compression.
func (f *filter) assemble(dst []byte, h *pageHead, leaf *Leaf, codec codec, k kept, remap []uint32) (out []byte, uncompressed int, err error) {
	v1 := h.kind == format.DataPage
	body := f.encoded[:0]
	var lengths [2]int
	for i, l := range [...]struct {
		levels []uint8
		most   int
	}{{f.page.rep, leaf.maxRep}, {f.page.def, leaf.maxDef}} {
		if l.most == 0 {
			continue
		}
		start := len(body)
		if v1 {
			body = append(body, 0, 0, 0, 0)
		}
		body = appendHybrid(body, l.levels, widthOf(l.most))
		lengths[i] = len(body) - start
		if v1 {
			binary.LittleEndian.PutUint32(body[start:], uint32(lengths[i]-4))
		}
	}
	plain := len(body) // length of the part that stays uncompressed
	if v1 {
		plain = 0
	}
	if body, err = f.encode(body, leaf, h.encoding, remap); err != nil {
		return nil, 0, err
	}
	f.encoded = body
	uncompressed = len(body)
	rest := body[plain:]
	if !codec.plain() && (v1 || h.packed) {
		if f.packed, err = codec.encode(f.packed, rest); err != nil {
			return nil, 0, err
		}
		rest = f.packed
	}
	fields := h.fields.edit()
	if v1 {
		sub, _ := fields.sub(headData)
		sub.setInt(dataValues, tI32, int64(k.levels))
		sub.del(dataStatistics)
		fields.setStruct(headData, sub)
	} else {
		sub, _ := fields.sub(headDataV2)
		sub.setInt(v2Values, tI32, int64(k.levels))
		sub.setInt(v2Nulls, tI32, int64(k.nulls))
		sub.setInt(v2Rows, tI32, int64(k.rows))
		sub.setInt(v2RepLength, tI32, int64(lengths[0]))
		sub.setInt(v2DefLength, tI32, int64(lengths[1]))
		sub.del(v2Statistics)
		fields.setStruct(headDataV2, sub)
	}
	out, header := appendPage(dst, fields, uncompressed, body[:plain], rest)
	return out, uncompressed + header, nil
}

// appendPage appends a header and a body in two pieces to dst. header is the
// length of the former.
func appendPage(dst []byte, fields structure, uncompressed int, levels, rest []byte) (out []byte, header int) {
	fields.setInt(headUncompressed, tI32, int64(uncompressed))
	fields.setInt(headCompressed, tI32, int64(len(levels)+len(rest)))
	if fields.has(headCRC) {
		sum := crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, rest)
		fields.setInt(headCRC, tI32, int64(int32(sum)))
	}
	out = fields.append(dst)
	header = len(out) - len(dst)
	return append(append(out, levels...), rest...), header
}
