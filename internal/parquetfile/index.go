package parquetfile

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// Field ids of ColumnIndex, OffsetIndex and PageLocation.
const (
	indexNullPages, indexMin, indexMax, indexOrder, indexNullCounts = 1, 2, 3, 4, 5
	indexRepHistogram, indexDefHistogram                            = 6, 7

	offsetsPages, offsetsBytes = 1, 2

	locationAt, locationSize, locationRow = 1, 2, 3
)

// maxIndex bounds the memory of a column's page index.
const maxIndex = 64 << 20

// The page index only lets readers skip pages, and no data are lost without it: an index that is
// damaged or does not fit its pages is left out.

// indexBytes reads an index of a chunk, nil if there is none.
func (f *File) indexBytes(c *chunk, at, length int16) []byte {
	from, _ := c.fields.int(at)
	n := c.fields.intOr(length, 0)
	if from <= 0 || n <= 0 || from > f.dataEnd || n > min(maxIndex, f.dataEnd-from) {
		return nil
	}
	b := make([]byte, n)
	if readAt(f.r, b, from) != nil {
		return nil
	}
	return b
}

func (f *File) columnIndex(c *chunk) []byte {
	return f.indexBytes(c, chunkColumnIndex, chunkColumnIndexLength)
}

// offsetIndex returns the offset index and the locations in it.
func (f *File) offsetIndex(c *chunk) (structure, []structure) {
	fields, err := parseWhole(f.indexBytes(c, chunkOffsetIndex, chunkOffsetIndexLength), new(format.OffsetIndex))
	if err != nil {
		return nil, nil
	}
	locations, err := fields.structs(offsetsPages)
	if err != nil {
		return nil, nil
	}
	return fields, locations
}

// shiftedOffsets returns the offset index of pages that move by shift bytes.
func (f *File) shiftedOffsets(c *chunk, shift int64) []byte {
	fields, locations := f.offsetIndex(c)
	if fields == nil {
		return nil
	}
	elems := make([][]byte, len(locations))
	for i, l := range locations {
		l.setInt(locationAt, tI64, l.intOr(locationAt, 0)+shift)
		elems[i] = l.append(nil)
	}
	fields.setList(offsetsPages, tStruct, elems)
	return fields.append(nil)
}

// pageEntry is the entry of a written page in the page index.
type pageEntry struct {
	ordinal     int   // among the data pages of the source
	source      int64 // its offset there
	at          int64
	size        int
	row         int64
	nulls       int
	onlyOfNulls bool
}

// newIndexes returns the column index and the offset index of a chunk's written pages, nil where
// the source has none or one that does not fit its pages. The bounds of a page remain bounds when
// it has lost rows, and their order remains.
func (f *File) newIndexes(c *chunk, pages []pageEntry) (column, offset []byte) {
	fields, locations := f.offsetIndex(c)
	var elems [][]byte
	for _, p := range pages {
		if p.ordinal >= len(locations) || locations[p.ordinal].intOr(locationAt, 0) != p.source {
			return nil, nil
		}
		var l structure
		l.setInt(locationAt, tI64, p.at)
		l.setInt(locationSize, tI32, int64(p.size))
		l.setInt(locationRow, tI64, p.row)
		elems = append(elems, l.append(nil))
	}
	if len(elems) == 0 {
		return nil, nil
	}
	fields.setList(offsetsPages, tStruct, elems)
	fields.del(offsetsBytes)
	return f.newColumnIndex(c, pages, len(locations)), fields.append(nil)
}

func (f *File) newColumnIndex(c *chunk, pages []pageEntry, sourcePages int) []byte {
	fields, err := parseWhole(f.columnIndex(c), new(format.ColumnIndex))
	if err != nil {
		return nil
	}
	isNull := []byte{tTrue}
	empty := appendBinary(nil, nil)
	for _, l := range [...]struct {
		id     int16
		typ    byte
		ifNull []byte
	}{{indexNullPages, tTrue, isNull}, {indexMin, tBinary, empty}, {indexMax, tBinary, empty}} {
		all, ok := fields.list(l.id, l.typ)
		if !ok || len(all) != sourcePages {
			return nil
		}
		elems := make([][]byte, len(pages))
		for i, p := range pages {
			if elems[i] = all[p.ordinal]; p.onlyOfNulls {
				elems[i] = l.ifNull
			}
		}
		fields.setList(l.id, fields.find(l.id).raw[0]&15, elems) // booleans have two type codes
	}
	if fields.has(indexNullCounts) {
		elems := make([][]byte, len(pages))
		for i, p := range pages {
			elems[i] = binary.AppendVarint(nil, int64(p.nulls))
		}
		fields.setList(indexNullCounts, tI64, elems)
	}
	fields.del(indexRepHistogram, indexDefHistogram)
	return fields.append(nil)
}
