// Package parquetfile reads columns of Parquet files, and copies files without some of their rows.
//
// It exists because parquet-go, which package corpus would use otherwise, falls short in three
// ways. Memory: here a page is read, used and released, whatever the size of its row group, and no
// length in a file is trusted before the bytes are there. Copies: schema, metadata and pages of
// which all rows are kept are written unchanged, including those that this program does not
// understand. Parallelism: many goroutines decode, filter and compress pages, with the same result
// for any number of them. Codecs and the delta encodings are those of parquet-go and the libraries
// below it.
//
// Use it from package corpus only. It reads flat and nested columns of every type and encoding of
// format 2.12, except for bit-packed levels (deprecated in 2013) and the codecs LZO and LZ4
// (deprecated; LZ4_RAW is read). It does not support encryption.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	tailSize       = 8 // length of the footer, and the magic
	// maxFooter bounds the memory of a footer; footers of wide tables with many row groups have
	// some tens of MB.
	maxFooter = 256 << 20
	// maxGroupRows bounds the rows of one row group, one bit each in a copy.
	maxGroupRows = 1 << 28
	// A file may have rowsAnyway rows, and rowsPerByte more for each of its bytes: a few bytes can
	// claim that billions of rows are all null.
	rowsAnyway, rowsPerByte = 16 << 20, 64
)

// Field ids of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
const (
	fileVersion, fileSchema, fileRows, fileGroups, fileKeyValues, fileCreator, fileOrders, fileEncryption = 1, 2, 3, 4, 5, 6, 7, 8

	groupColumns, groupBytes, groupRows, groupSorting, groupOffset, groupCompressed, groupOrdinal = 1, 2, 3, 4, 5, 6, 7

	chunkPath, chunkOffset, chunkMeta                                  = 1, 2, 3
	chunkOffsetIndex, chunkOffsetIndexLength                           = 4, 5
	chunkColumnIndex, chunkColumnIndexLength, chunkCrypto, chunkSecret = 6, 7, 8, 9

	metaType, metaEncodings, metaPath, metaCodec, metaValues, metaUncompressed, metaCompressed = 1, 2, 3, 4, 5, 6, 7
	metaKeyValues, metaDataPage, metaIndexPage, metaDictionaryPage                             = 8, 9, 10, 11
	metaStatistics, metaEncodingStats, metaBloom, metaBloomLength                              = 12, 13, 14, 15
	metaSizeStatistics, metaGeoStatistics                                                      = 16, 17
)

// A File is an open Parquet file. It is immutable and safe for concurrent use.
type File struct {
	Leaves []Leaf // the columns, in the order of the schema
	Rows   int64  // of all row groups
	// Room is how many bytes of pages Copy holds at once, if no page is larger; 0: 48 MiB a thread.
	Room int64
	// Instead is the number of a column, from 1 on, of which Copy takes the values from extra; 0: of none.
	Instead int

	r       io.ReaderAt
	size    int64
	dataEnd int64 // where the footer starts
	meta    structure
	groups  []rowGroup
}

// rowGroup is one row group as its metadata describes it.
type rowGroup struct {
	fields structure
	rows   int64
	first  int64    // number of its first row in the file
	chunks [][]byte // encoded ColumnChunks, one a leaf
}

// chunk is one column of a row group.
type chunk struct {
	fields, meta structure
	leaf         *Leaf
	codec        codec
	start, end   int64 // of its pages, including the dictionary
	values       int64 // with nulls
	rows         int64 // of the row group
}

// Open reads the footer of the size bytes of r. Cost O(footer).
func Open(r io.ReaderAt, size int64) (_ *File, err error) {
	defer guard(&err)
	footer, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{r: r, size: size, dataEnd: size - tailSize - int64(len(footer))}
	meta, n, err := parseStruct(footer)
	if err != nil {
		return nil, err
	}
	f.meta = meta
	if f.meta.has(fileEncryption) { // a signature may follow
		return nil, ErrEncrypted
	}
	if n != len(footer) {
		return nil, fmt.Errorf("%w: %d bytes behind its end", errThrift, len(footer)-n)
	}
	if err := f.conforms(); err != nil {
		return nil, err
	}
	schema, err := f.meta.structs(fileSchema)
	if err != nil {
		return nil, err
	}
	if f.Leaves, err = leavesOf(schema); err != nil {
		return nil, err
	}
	groups, err := f.meta.structs(fileGroups)
	if err != nil {
		return nil, err
	}
	f.groups = make([]rowGroup, len(groups))
	for i, fields := range groups {
		g := &f.groups[i]
		rows, ok := fields.int(groupRows)
		var isList bool
		g.chunks, isList = fields.list(groupColumns, tStruct)
		if !ok || !isList || len(g.chunks) != len(f.Leaves) || rows < 0 {
			return nil, fmt.Errorf("%w: row group %d has %d columns where the schema has %d", ErrCorrupt, i, len(g.chunks), len(f.Leaves))
		}
		if rows > maxGroupRows {
			return nil, fmt.Errorf("%w: a row group of %d rows", ErrUnsupported, rows)
		}
		g.fields, g.rows, g.first = fields, rows, f.Rows
		f.Rows += rows
	}
	if rows := f.meta.intOr(fileRows, -1); rows != f.Rows {
		return nil, fmt.Errorf("%w: its row groups have %d rows where the file has %d", ErrCorrupt, f.Rows, rows)
	}
	if f.Rows > rowsAnyway+rowsPerByte*size {
		return nil, fmt.Errorf("%w: %d rows in %d bytes", ErrUnsupported, f.Rows, size)
	}
	return f, nil
}

// conforms checks the footer as parquet-go reads it, a part at a time: its structs are large. Keys may
// lack values, which parquet-go refuses.
func (f *File) conforms() error {
	schema, isList := f.meta.list(fileSchema, tStruct)
	groups, areList := f.meta.list(fileGroups, tStruct)
	if !isList || !areList {
		return fmt.Errorf("%w: no schema or no row groups", errThrift)
	}
	if err := conform(new(format.SchemaElement), schema...); err != nil {
		return err
	}
	for _, b := range groups {
		g, _, err := parseStruct(b)
		if err != nil {
			return err
		}
		columns, isList := g.list(groupColumns, tStruct)
		if !isList {
			return fmt.Errorf("%w: a row group without columns", errThrift)
		}
		g.setList(groupColumns, tStruct, nil)
		if err := errors.Join(conform(new(format.ColumnChunk), columns...), conform(new(format.RowGroup), g.append(nil))); err != nil {
			return err
		}
	}
	rest := f.meta.edit()
	rest.setList(fileSchema, tStruct, nil)
	rest.setList(fileGroups, tStruct, nil)
	rest.del(fileKeyValues)
	return conform(new(format.FileMetaData), rest.append(nil))
}

func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	var head [len(magic)]byte
	var tail [tailSize]byte
	if size < int64(len(head)+len(tail)) {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrNotParquet, size)
	}
	if err := readAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if err := readAt(r, tail[:], size-tailSize); err != nil {
		return nil, err
	}
	switch first, last := string(head[:]), string(tail[4:]); {
	case first == encryptedMagic || first == magic && last == encryptedMagic:
		return nil, ErrEncrypted
	case first != magic:
		return nil, fmt.Errorf("%w: it starts with %q", ErrNotParquet, first)
	case last != magic:
		return nil, ErrTruncated
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-tailSize-int64(len(head)) {
		return nil, fmt.Errorf("%w: a footer of %d bytes", ErrCorrupt, length)
	}
	if length > maxFooter {
		return nil, fmt.Errorf("%w: a footer of %d bytes", ErrUnsupported, length)
	}
	footer := make([]byte, length)
	return footer, readAt(r, footer, size-tailSize-length)
}

// readAt fills p; missing bytes mean that the file has become shorter since it was opened.
func readAt(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%w (no byte %d)", ErrChanged, off+int64(n))
	}
	return fmt.Errorf("%w, at byte %d: %w", ErrUnreadable, off+int64(n), err)
}

// chunk parses and checks the metadata of one column of a row group.
func (f *File) chunk(group, column int) (*chunk, error) {
	g, leaf := &f.groups[group], &f.Leaves[column]
	c := &chunk{leaf: leaf, rows: g.rows}
	bad := func(what string) error {
		return fmt.Errorf("%w: column %q of row group %d: %s", ErrCorrupt, leaf.Name, group, what)
	}
	var err error
	if c.fields, _, err = parseStruct(g.chunks[column]); err != nil {
		return nil, err
	}
	if c.fields.has(chunkCrypto) || c.fields.has(chunkSecret) {
		return nil, fmt.Errorf("%w: column %q", ErrEncrypted, leaf.Name)
	}
	if path, ok := c.fields.bytes(chunkPath); ok && len(path) > 0 {
		return nil, fmt.Errorf("%w: column %q lies in another file, %q", ErrUnsupported, leaf.Name, path)
	}
	var ok bool
	if c.meta, ok = c.fields.sub(chunkMeta); !ok {
		return nil, bad("no metadata")
	}
	if typ, ok := c.meta.int(metaType); !ok || typ != int64(leaf.physical) {
		return nil, bad("another type than in the schema")
	}
	if c.codec, err = codecOf(c.meta.intOr(metaCodec, 0)); err != nil {
		return nil, fmt.Errorf("column %q: %w", leaf.Name, err)
	}
	c.values = c.meta.intOr(metaValues, -1)
	if c.values < c.rows || leaf.maxRep == 0 && c.values != c.rows {
		return nil, bad(fmt.Sprintf("%d values in %d rows", c.values, c.rows))
	}
	if c.values == 0 {
		return c, nil // such a chunk has no pages, wherever it says they are
	}
	c.start = c.meta.intOr(metaDataPage, -1)
	if d := c.meta.intOr(metaDictionaryPage, 0); d > 0 && d < c.start {
		c.start = d
	}
	length := c.meta.intOr(metaCompressed, -1)
	if c.start < int64(len(magic)) || c.start > f.dataEnd || length < 0 || length > f.dataEnd-c.start {
		return nil, bad("it lies outside of the file")
	}
	c.end = c.start + length
	return c, nil
}

// checkTotal checks that chunks of different columns and row groups, of that many bytes together,
// fit in the file without overlap.
func (f *File) checkTotal(bytes int64) error {
	if bytes > f.dataEnd {
		return fmt.Errorf("%w: columns that overlap", ErrCorrupt)
	}
	return nil
}

// Column finds a column by the names on its path joined by dots. It returns -1 if there is none.
func (f *File) Column(name string) int {
	for i := range f.Leaves {
		if f.Leaves[i].Name == name {
			return i
		}
	}
	return -1
}

func (f *File) Names() []string {
	names := make([]string, len(f.Leaves))
	for i := range f.Leaves {
		names[i] = f.Leaves[i].Name
	}
	return names
}

// Holds reports whether name is a group or a list, with columns below it.
func (f *File) Holds(name string) bool {
	for i := range f.Leaves {
		if strings.HasPrefix(f.Leaves[i].Name, name+".") {
			return true
		}
	}
	return false
}

// Kinds of errors of a file, for errors.Is. The text of an error says more.
var (
	ErrNotParquet  = errors.New("not a Parquet file")
	ErrTruncated   = errors.New("a Parquet file without its end")
	ErrCorrupt     = errors.New("corrupt Parquet data")
	ErrEncrypted   = errors.New("encrypted Parquet file")
	ErrUnsupported = errors.New("not supported in a Parquet file")
	ErrChanged     = errors.New("the file became shorter while it was read")
	ErrUnreadable  = errors.New("a part of a Parquet file cannot be read")
)

// IsDamage tells whether err is one of the kinds above, and not an error of writing.
func IsDamage(err error) bool {
	for _, kind := range [...]error{ErrNotParquet, ErrTruncated, ErrCorrupt, ErrEncrypted, ErrUnsupported, ErrChanged, ErrUnreadable} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// errPanic marks panics that guard has caught.
var errPanic = errors.New("unexpected")

// guard turns a panic of a codec or of this package over damaged data into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %w: %v", ErrCorrupt, errPanic, r)
	}
}
