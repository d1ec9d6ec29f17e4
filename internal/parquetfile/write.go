package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A Kind is the type of the values that a Writer writes.
type Kind int8

const (
	Text    Kind = iota // UTF-8
	Bytes               // any bytes
	Integer             // 64 bits, signed
	Double
)

// A Column is a column that a Writer writes.
type Column struct {
	Name string
	Kind Kind
	// Levels is 0 if every row has a value, 1 if it may lack one, and more if the column is within as many optional
	// groups of its name.
	Levels int
}

// A Writer writes a file of columns without lists. Its files are those of parquet-go's writer to the byte, which the tests
// compare: that one brings 22 packages and 2.4 MB into the program, for types and lists that are not written here.
//
// Of each row every column gets a value, or none, then Row is called.
type Writer struct {
	out     io.Writer
	name    string // of the schema
	columns []*outColumn
	codec   codec
	most    int // rows of a row group
	step    int // rows after which pages may end
	rows    int // of this row group
	at      int64
	groups  []format.RowGroup
	columnI []format.ColumnIndex
	offsetI []format.OffsetIndex
}

const (
	writerPage  = 256 << 10 * 98 / 100 // bytes in memory of a page, without what a step adds
	writerStep  = 64
	boundLength = 16 // of a bound of a page in the index
	// writerName stays what it was: the same rows are the same bytes in every version.
	writerName = "github.com/parquet-go/parquet-go version 0.32.0(build )"
)

// outColumn is a column of the row group that is written.
type outColumn struct {
	Column
	as format.Encoding

	values  []byte
	offsets []uint32 // of byte arrays
	levels  []uint8  // of a column that may lack values
	present int      // values on this page

	pages    []byte // finished ones
	meta     format.ColumnMetaData
	index    format.ColumnIndex
	places   []format.PageLocation
	rows     int64
	min, max [][]byte // of each page

	encoded, packed []byte
}

// NewWriter returns a writer of a file whose schema has a name. Pages are packed by zstd. most bounds the rows of a row group.
func NewWriter(out io.Writer, name string, columns []Column, most int) *Writer {
	return newWriter(out, name, columns, most, codec{id: format.Zstd}, writerStep)
}

func newWriter(out io.Writer, name string, columns []Column, most int, codec codec, step int) *Writer {
	w := &Writer{out: out, name: name, codec: codec, most: most, step: step}
	for _, c := range columns {
		o := &outColumn{Column: c, as: format.Plain}
		if c.Kind <= Bytes {
			o.as = format.DeltaLengthByteArray
		}
		w.columns = append(w.columns, o)
	}
	return w
}

// Null says that the row has no value of a column.
func (w *Writer) Null(column int) { w.columns[column].level(0) }

// Bytes adds the value of a column of Text or Bytes.
func (w *Writer) Bytes(column int, v []byte) {
	c := w.columns[column]
	c.offsets = append(c.offsets, uint32(len(c.values)))
	c.values = append(c.values, v...)
	c.present++
	c.level(c.Levels)
}

// Integer adds the value of a column.
func (w *Writer) Integer(column int, v int64) { w.columns[column].number(uint64(v)) }

// Double adds the value of a column.
func (w *Writer) Double(column int, v float64) { w.columns[column].number(math.Float64bits(v)) }

func (c *outColumn) number(v uint64) {
	c.values = binary.LittleEndian.AppendUint64(c.values, v)
	c.present++
	c.level(c.Levels)
}

func (c *outColumn) level(level int) {
	if c.Levels > 0 {
		c.levels = append(c.levels, uint8(level))
	}
}

func (w *Writer) Row() error {
	if w.rows++; w.rows%w.step == 0 {
		for _, c := range w.columns {
			if size := len(c.values) + 4*len(c.offsets) + 5*len(c.levels); size >= writerPage {
				if err := c.endPage(w.codec); err != nil {
					return err
				}
			}
		}
	}
	if w.rows == w.most {
		return w.endGroup()
	}
	return nil
}

// endPage encodes the values in memory as a page.
func (c *outColumn) endPage(codec codec) error {
	n := max(c.present, len(c.levels))
	if n == 0 {
		return nil
	}
	head := format.DataPageHeaderV2{
		NumValues: int32(n), NumNulls: int32(n - c.present), NumRows: int32(n),
		Encoding: c.as, IsCompressed: thrift.New(!codec.plain()),
	}
	var levels []byte
	var err error
	if c.Levels > 0 {
		if levels, err = (&rle.Encoding{BitWidth: widthOf(c.Levels)}).EncodeLevels(nil, c.levels); err != nil {
			return err
		}
	}
	head.DefinitionLevelsByteLength = int32(len(levels))
	c.encoded = append(c.encoded[:0], c.values...)
	if c.Kind <= Bytes {
		c.offsets = append(c.offsets, uint32(len(c.values)))
		if c.encoded, err = new(delta.LengthByteArrayEncoding).EncodeByteArray(c.encoded[:0], c.values, c.offsets); err != nil {
			return err
		}
		c.meta.SizeStatistics.UnencodedByteArrayDataBytes += int64(len(c.values))
	}
	body := c.encoded
	uncompressed := len(levels) + len(body)
	if uncompressed > math.MaxInt32 {
		return fmt.Errorf("column %s: a page of %d bytes", c.Name, uncompressed)
	}
	if !codec.plain() {
		if c.packed, err = encoders[codec.id].Encode(c.packed[:0], body); err != nil {
			return err
		}
		body = c.packed
	}
	least, most := c.bounds()
	head.Statistics = format.Statistics{Min: least, Max: most, NullCount: int64(head.NumNulls), MinValue: least, MaxValue: most}
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{
		Type: format.DataPageV2, UncompressedPageSize: int32(uncompressed), CompressedPageSize: int32(len(levels) + len(body)),
		CRC:              int32(crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, body)),
		DataPageHeaderV2: thrift.New(head),
	})
	if err != nil {
		return err
	}
	c.note(&head, least, most)
	size := len(header) + len(levels) + len(body)
	c.places = append(c.places, format.PageLocation{Offset: int64(len(c.pages)), CompressedPageSize: int32(size), FirstRowIndex: c.rows})
	c.pages = append(append(append(c.pages, header...), levels...), body...)
	c.rows += int64(n)
	c.meta.TotalUncompressedSize += int64(len(header) + uncompressed)
	c.values, c.offsets, c.levels, c.present = c.values[:0], c.offsets[:0], c.levels[:0], 0
	return nil
}

// bounds returns the least and the greatest value in memory, nil if there is none, or no byte in any.
func (c *outColumn) bounds() (least, most []byte) {
	for i := range c.present {
		from, to := 8*i, 8*i+8
		if c.Kind <= Bytes {
			from, to = int(c.offsets[i]), int(c.offsets[i+1])
		}
		switch v := c.values[from:to]; {
		case i == 0:
			least, most = v, v
		case c.compare(v, least) < 0:
			least = v
		case c.compare(v, most) > 0:
			most = v
		}
	}
	if len(c.values) == 0 {
		return nil, nil
	}
	return slices.Clone(least), slices.Clone(most)
}

func (c *outColumn) compare(a, b []byte) int {
	switch c.Kind {
	case Integer:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case Double:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

// note adds a page to what the chunk and the index say.
func (c *outColumn) note(head *format.DataPageHeaderV2, least, most []byte) {
	s := &c.meta.Statistics
	c.meta.NumValues += int64(head.NumValues)
	s.NullCount += int64(head.NumNulls)
	if c.present > 0 {
		if s.MinValue == nil || c.compare(least, s.MinValue) < 0 {
			s.MinValue = append([]byte{}, least...) // an empty one is there, too
		}
		if s.MaxValue == nil || c.compare(most, s.MaxValue) > 0 {
			s.MaxValue = append([]byte{}, most...)
		}
	} else if c.Kind > Bytes {
		least, most = make([]byte, 8), make([]byte, 8)
	}
	c.min, c.max = append(c.min, least), append(c.max, most)
	c.index.NullPages = append(c.index.NullPages, c.present == 0)
	c.index.NullCounts = append(c.index.NullCounts, int64(head.NumNulls))
	if c.Levels > 0 {
		histogram := make([]int64, c.Levels+1)
		histogram[0], histogram[c.Levels] = int64(head.NumNulls), int64(c.present)
		c.index.DefinitionLevelHistogram = append(c.index.DefinitionLevelHistogram, histogram...)
		sum := c.meta.SizeStatistics.DefinitionLevelHistogram
		if sum == nil {
			sum = make([]int64, c.Levels+1)
		}
		for i, n := range histogram {
			sum[i] += n
		}
		c.meta.SizeStatistics.DefinitionLevelHistogram = sum
	}
}

// endIndex completes the index of a chunk.
func (c *outColumn) endIndex() format.ColumnIndex {
	if c.Kind <= Bytes {
		for i := range c.min {
			c.shorten(i)
		}
	}
	c.index.MinValues, c.index.MaxValues = c.min, c.max
	if order := c.order(c.min); order == c.order(c.max) {
		c.index.BoundaryOrder = order
	}
	return c.index
}

// order tells how the bounds of pages are ordered.
func (c *outColumn) order(bounds [][]byte) format.BoundaryOrder {
	falling := func(a, b []byte) int { return c.compare(b, a) }
	switch {
	case len(bounds) < 2:
	case slices.IsSortedFunc(bounds, c.compare):
		return format.Ascending
	case slices.IsSortedFunc(bounds, falling):
		return format.Descending
	}
	return format.Unordered
}

// shorten cuts the bounds of a page; the upper one rises.
func (c *outColumn) shorten(i int) {
	c.min[i] = c.min[i][:min(len(c.min[i]), boundLength)]
	if len(c.max[i]) <= boundLength {
		return
	}
	short := slices.Clone(c.max[i][:boundLength])
	for at := boundLength - 1; at >= 0; at-- {
		if short[at]++; short[at] != 0 {
			c.max[i] = short
			return
		}
	}
	c.max[i] = bytes.Repeat([]byte{0xff}, boundLength)
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

func (w *Writer) begin() error {
	if w.at > 0 {
		return nil
	}
	return w.write([]byte(magic))
}

// endGroup writes the rows so far as a row group.
func (w *Writer) endGroup() error {
	if w.rows == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	g := format.RowGroup{NumRows: int64(w.rows), SortingColumns: []format.SortingColumn{}, FileOffset: w.at, Ordinal: int16(len(w.groups))}
	for _, c := range w.columns {
		if err := c.endPage(w.codec); err != nil {
			return err
		}
		meta := c.meta
		meta.Type = [...]format.Type{format.ByteArray, format.ByteArray, format.Int64, format.Double}[c.Kind]
		meta.Encoding = []format.Encoding{c.as}
		if c.Levels > 0 {
			meta.Encoding = []format.Encoding{min(c.as, format.RLE), max(c.as, format.RLE)}
		}
		meta.PathInSchema = slices.Repeat([]string{c.Name}, max(c.Levels, 1))
		meta.Codec, meta.DataPageOffset, meta.TotalCompressedSize = w.codec.id, w.at, int64(len(c.pages))
		meta.EncodingStats = []format.PageEncodingStats{{PageType: format.DataPageV2, Encoding: c.as, Count: int32(len(c.places))}}
		for i := range c.places {
			c.places[i].Offset += w.at
		}
		if err := w.write(c.pages); err != nil {
			return err
		}
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: meta})
		g.TotalByteSize += meta.TotalUncompressedSize
		g.TotalCompressedSize += meta.TotalCompressedSize
		w.columnI = append(w.columnI, c.endIndex())
		w.offsetI = append(w.offsetI, format.OffsetIndex{PageLocations: c.places})
		*c = outColumn{Column: c.Column, as: c.as, values: c.values, offsets: c.offsets, levels: c.levels, pages: c.pages[:0], encoded: c.encoded, packed: c.packed}
	}
	w.groups = append(w.groups, g)
	w.rows = 0
	return nil
}

// schema returns the schema in depth-first order.
func (w *Writer) schema() []format.SchemaElement {
	all := []format.SchemaElement{{Name: w.name, NumChildren: thrift.New(int32(len(w.columns)))}}
	for _, c := range w.columns {
		repetition := format.Required
		if c.Levels > 0 {
			repetition = format.Optional
		}
		for range c.Levels - 1 {
			all = append(all, format.SchemaElement{Name: c.Name, RepetitionType: thrift.New(repetition), NumChildren: thrift.New(int32(1))})
		}
		e := format.SchemaElement{Name: c.Name, RepetitionType: thrift.New(repetition)}
		e.Type = thrift.New([...]format.Type{format.ByteArray, format.ByteArray, format.Int64, format.Double}[c.Kind])
		switch c.Kind {
		case Text:
			e.LogicalType.Value, e.ConvertedType = new(format.StringType), thrift.New(deprecated.UTF8)
		case Integer:
			e.TypeLength = thrift.New(int32(64))
			e.LogicalType.Value = &format.IntType{BitWidth: 64, IsSigned: true}
		case Double:
			e.TypeLength = thrift.New(int32(64))
		}
		all = append(all, e)
	}
	return all
}

// Close writes what is left, and the end of the file.
func (w *Writer) Close() error {
	if err := w.endGroup(); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	encode := func(v any) (n int, err error) {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err == nil {
			err = w.write(b)
		}
		return len(b), err
	}
	meta := format.FileMetaData{
		Version: 2, Schema: w.schema(), RowGroups: w.groups, KeyValueMetadata: []format.KeyValue{}, CreatedBy: writerName,
		ColumnOrders: slices.Repeat([]format.ColumnOrder{{Value: new(format.TypeDefinedOrder)}}, len(w.columns)),
	}
	chunk := func(i int) *format.ColumnChunk { return &w.groups[i/len(w.columns)].Columns[i%len(w.columns)] }
	for i := range w.columnI {
		at := w.at
		n, err := encode(&w.columnI[i])
		if err != nil {
			return err
		}
		chunk(i).ColumnIndexOffset, chunk(i).ColumnIndexLength = at, int32(n)
	}
	for i := range w.offsetI {
		at := w.at
		n, err := encode(&w.offsetI[i])
		if err != nil {
			return err
		}
		chunk(i).OffsetIndexOffset, chunk(i).OffsetIndexLength = at, int32(n)
	}
	for i := range w.groups {
		meta.NumRows += w.groups[i].NumRows
	}
	n, err := encode(&meta)
	if err != nil {
		return err
	}
	return w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
}
