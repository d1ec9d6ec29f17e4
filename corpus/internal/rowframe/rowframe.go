// Package rowframe puts the wanted values of a row of a Parquet file into one run of
// bytes, a frame, and takes them out again:
//
//	frame  size of the rest, 4 bytes little-endian │ id │ fields … │ text
//	value  uvarint(0) for null, else uvarint(1 + length) and the bytes
//
// A frame of size 0 is a row with a value over the limit.
package rowframe

import (
	"encoding/binary"
	"math"

	"github.com/alike-dev/alike/internal/parquetfile"
)

const headSize = 4

// Columns are the places of the wanted columns in a piece of a file.
type Columns struct {
	Text   int
	ID     int   // -1: none
	Fields []int // -1: not there
}

type cellValue struct {
	v  []byte
	ok bool
}

// Append appends the frames of the first rows of a piece. The text is unchanged, other
// values have their canonical text form; limit is the most bytes of one value.
func (c *Columns) Append(buf []byte, piece *parquetfile.Piece, rows int, limit int64) []byte {
	cells := make([]parquetfile.Cells, 0, 2+len(c.Fields))
	order := make([]int, 0, cap(cells)) // of the values in a frame: places in cells, -1 = null
	place := map[int]int{}
	add := func(column int) {
		at := -1
		if column >= 0 {
			var there bool
			if at, there = place[column]; !there {
				at = len(cells)
				place[column] = at
				cells = append(cells, piece.Cells(column))
			}
		}
		order = append(order, at)
	}
	add(c.ID)
	for _, column := range c.Fields {
		add(column)
	}
	add(c.Text)
	values := make([]cellValue, len(cells))
	for range rows {
		for i := range cells {
			v, ok := cells[i].Next()
			values[i] = cellValue{v, ok}
		}
		start := len(buf)
		buf = append(buf, 0, 0, 0, 0)
		for k, at := range order {
			if at < 0 || !values[at].ok {
				buf = append(buf, 0)
				continue
			}
			long := false
			if buf, long = appendValue(buf, cells[at].Leaf, values[at].v, k == len(order)-1, limit); long {
				buf = buf[:start+headSize]
				break
			}
		}
		size := len(buf) - start - headSize
		if size > math.MaxUint32 {
			buf, size = buf[:start+headSize], 0
		}
		binary.LittleEndian.PutUint32(buf[start:], uint32(size))
	}
	return buf
}

// appendValue appends a value to a frame.
func appendValue(buf []byte, leaf *parquetfile.Leaf, v []byte, text bool, limit int64) (_ []byte, long bool) {
	if int64(len(v)) > limit {
		return buf, true
	}
	if text || leaf.IsText() {
		buf = binary.AppendUvarint(buf, uint64(len(v))+1)
		return append(buf, v...), false
	}
	var scratch [64]byte
	shown := leaf.AppendText(scratch[:0], v)
	if int64(len(shown)) > limit {
		return buf, true
	}
	buf = binary.AppendUvarint(buf, uint64(len(shown))+1)
	return append(buf, shown...), false
}

// Cut returns the frame at the start of data, whose length is 0 if there is none; long
// reports whether a value of its row is over the limit.
func Cut(data []byte) (frame []byte, long bool) {
	if len(data) < headSize {
		return nil, false
	}
	size := int(binary.LittleEndian.Uint32(data))
	n := headSize + size
	return data[:n:n], size == 0
}

// Values returns the values of a frame, to be read by Next.
func Values(frame []byte) []byte { return frame[min(headSize, len(frame)):] }

// Next returns the first of values, nil for null; ok is false if values are not those of
// a frame.
func Next(values []byte) (v, rest []byte, ok bool) {
	size, n := binary.Uvarint(values)
	if n <= 0 || size > uint64(len(values)-n)+1 {
		return nil, nil, false
	}
	rest = values[n:]
	if size > 0 {
		v, rest = rest[:size-1:size-1], rest[size-1:]
	}
	return v, rest, true
}
