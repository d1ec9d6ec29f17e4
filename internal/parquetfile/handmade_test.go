package parquetfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// handmade is a file of one row group and one column, made byte by byte: what
// parquet-go does not write.
type handmade struct {
	repetition int64 // of the column
	physical   physical
	rows       int64
	values     int64
	pages      []madePage
	edit       func(meta *structure) // of the chunk, before it is written
}

type madePage struct {
	kind     format.PageType
	values   int
	rep, def []uint8
	encoding format.Encoding
	vals     []byte
	edit     func(header *structure)
}

func (m madePage) bytes(h *handmade) []byte {
	var body []byte
	for _, l := range [...]struct {
		levels []uint8
		there  bool
	}{{m.rep, h.repetition == repeated}, {m.def, h.repetition != 0}} {
		if l.there && m.kind == format.DataPage {
			levels := appendHybrid(nil, l.levels, 1)
			body = append(binary.LittleEndian.AppendUint32(body, uint32(len(levels))), levels...)
		}
	}
	body = append(body, m.vals...)
	var sub, header structure
	header.setInt(headType, tI32, int64(m.kind))
	sub.setInt(1, tI32, int64(m.values))
	sub.setInt(2, tI32, int64(m.encoding))
	if m.kind == format.DataPage {
		sub.setInt(dataDefEncoding, tI32, int64(format.RLE))
		sub.setInt(dataRepEncoding, tI32, int64(format.RLE))
		header.setStruct(headData, sub)
	} else {
		header.setStruct(headDictionary, sub)
	}
	header.setInt(headUncompressed, tI32, int64(len(body)))
	header.setInt(headCompressed, tI32, int64(len(body)))
	if m.edit != nil {
		m.edit(&header)
	}
	return append(header.append(nil), body...)
}

func (h handmade) file() []byte {
	out := []byte(magic)
	for _, p := range h.pages {
		out = append(out, p.bytes(&h)...)
	}
	var root, column, meta, fields, group, footer structure
	root.setBytes(elemName, []byte("root"))
	root.setInt(elemChildren, tI32, 1)
	column.setInt(elemType, tI32, int64(h.physical))
	column.setInt(elemRepetition, tI32, h.repetition)
	column.setBytes(elemName, []byte("text"))
	meta.setInt(metaType, tI32, int64(h.physical))
	meta.setList(2, tI32, [][]byte{{0}, {6}, {16}})
	meta.setList(3, tBinary, [][]byte{appendBinary(nil, []byte("text"))})
	meta.setInt(metaCodec, tI32, 0)
	meta.setInt(metaValues, tI64, h.values)
	meta.setInt(metaUncompressed, tI64, int64(len(out)-4))
	meta.setInt(metaCompressed, tI64, int64(len(out)-4))
	meta.setInt(metaDataPage, tI64, 4)
	if h.edit != nil {
		h.edit(&meta)
	}
	fields.setInt(chunkOffset, tI64, 4)
	fields.setStruct(chunkMeta, meta)
	group.setList(groupColumns, tStruct, [][]byte{fields.append(nil)})
	group.setInt(groupBytes, tI64, int64(len(out)-4))
	group.setInt(groupRows, tI64, h.rows)
	footer.setInt(1, tI32, 1)
	footer.setList(fileSchema, tStruct, [][]byte{root.append(nil), column.append(nil)})
	footer.setInt(fileRows, tI64, h.rows)
	footer.setList(fileGroups, tStruct, [][]byte{group.append(nil)})
	end := footer.append(nil)
	out = append(out, end...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(end))), magic...)
}

func plainInts(from, to int) (b []byte) {
	for i := from; i < to; i++ {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return b
}

// rowsThatCrossPages has rows of 1 to 4 values, and pages that end anywhere.
func rowsThatCrossPages(rows, page int) (h handmade, want [][]int32) {
	h = handmade{repetition: repeated, physical: int32s, rows: int64(rows)}
	var rep []uint8
	for i := range rows {
		var row []int32
		for k := range i%4 + 1 {
			rep = append(rep, uint8(min(k, 1)))
			row = append(row, int32(len(rep)-1))
		}
		want = append(want, row)
	}
	for from := 0; from < len(rep); from += page {
		to := min(from+page, len(rep))
		h.pages = append(h.pages, madePage{
			kind: format.DataPage, values: to - from, rep: rep[from:to], def: bytes.Repeat([]byte{1}, to-from),
			encoding: format.Plain, vals: plainInts(from, to),
		})
	}
	h.values = int64(len(rep))
	return h, want
}

func TestRowsThatCrossPagesAreCopiedWhole(t *testing.T) {
	type row struct {
		Text []int32 `parquet:"text"`
	}
	for page := 1; page < 12; page++ {
		h, all := rowsThatCrossPages(60, page)
		data := h.file()
		for every := 1; every < 9; every++ {
			keep := func(r int64) bool { return r%int64(every) == 2%int64(every) }
			out := copied(t, data, 2, keep)
			have := readRows[row](t, out)
			i := 0
			for r, want := range all {
				if !keep(int64(r)) {
					continue
				}
				if i >= len(have) || !slices.Equal(have[i].Text, want) {
					t.Fatalf("pages of %d values, every %d: row %d is %v, want %v", page, every, r, have[min(i, len(have)-1)], want)
				}
				i++
			}
			if i != len(have) {
				t.Fatalf("pages of %d values, every %d: %d rows, want %d", page, every, len(have), i)
			}
		}
	}
}

// strings4 are byte arrays of four bytes.
func strings4(n int) (b []byte) {
	for range n {
		b = append(append(b, 4, 0, 0, 0), "text"...)
	}
	return b
}

// readsAll reads all columns that can be read, and copies half of the rows.
func readsAll(f *File, limit int64) (rows int, err error) {
	var columns []int
	for i := range f.Leaves {
		if !f.Leaves[i].IsList() {
			columns = append(columns, i)
		}
	}
	if len(columns) > 0 {
		r, err := f.NewReader(columns, 1000, limit)
		if err != nil {
			return 0, err
		}
		for {
			p, err := r.Next()
			if err != nil {
				if !isEnd(err) {
					return rows, err
				}
				break
			}
			n, err := p.Load()
			for i := range columns {
				cells := p.Cells(i)
				for range n {
					if v, ok := cells.Next(); ok {
						cells.Leaf.AppendText(nil, v)
					}
				}
			}
			p.Release()
			rows += n
			if err != nil {
				return rows, err
			}
		}
	}
	return rows, f.Copy(context.Background(), &bytes.Buffer{}, 2, limit, nil, func(row int64) bool { return row%2 == 0 }, nil)
}

func isEnd(err error) bool { return err.Error() == "EOF" }

func TestHostileClaimsAreRefusedAtNoCost(t *testing.T) {
	good := func() handmade {
		return handmade{physical: byteArrays, rows: 10, values: 10, pages: []madePage{
			{kind: format.DataPage, values: 10, encoding: format.Plain, vals: strings4(10)},
		}}
	}
	header := func(id int16, v int64) func() handmade {
		return func() handmade {
			h := good()
			h.pages[0].edit = func(s *structure) { s.setInt(id, tI32, v) }
			return h
		}
	}
	values := func(id int16, v int64) func() handmade {
		return func() handmade {
			h := good()
			h.pages[0].edit = func(s *structure) {
				sub, _ := s.sub(headData)
				sub.setInt(id, tI32, v)
				s.setStruct(headData, sub)
			}
			return h
		}
	}
	meta := func(id int16, v int64) func() handmade {
		return func() handmade {
			h := good()
			h.edit = func(m *structure) { m.setInt(id, tI64, v) }
			return h
		}
	}
	withCodec := func(id int64, claim int64) func() handmade {
		return func() handmade {
			h := header(headUncompressed, claim)()
			h.edit = func(m *structure) { m.setInt(metaCodec, tI32, id) }
			return h
		}
	}
	dictionary := func(values int, claim int64) func() handmade {
		return func() handmade {
			h := good()
			h.pages[0].encoding, h.pages[0].vals = format.RLEDictionary, []byte{1, 20, 0}
			h.pages = append([]madePage{{kind: format.DictionaryPage, values: values, vals: strings4(1), edit: func(s *structure) {
				if claim > 0 {
					s.setInt(headUncompressed, tI32, claim)
				}
			}}}, h.pages...)
			return h
		}
	}
	if rows, err := readsAll(open(t, good().file()), 0); rows != 10 || err != nil {
		t.Fatalf("the file that is sound: %d rows, %v", rows, err)
	}
	if rows, err := readsAll(open(t, dictionary(1, 0)().file()), 0); rows != 10 || err != nil {
		t.Fatalf("the file with a dictionary: %d rows, %v", rows, err)
	}
	const huge = 1<<31 - 1
	for name, make := range map[string]func() handmade{
		"an uncompressed page of 2 GiB":       header(headUncompressed, huge),
		"a compressed page of 2 GiB":          header(headCompressed, huge),
		"a page of negative size":             header(headCompressed, -5),
		"a page of 2³¹ values":                values(dataValues, huge),
		"a page of a million values":          values(dataValues, 1_000_000),
		"a page of -1 values":                 values(dataValues, -1),
		"an unknown encoding":                 values(dataEncoding, 77),
		"a chunk of 2⁶⁰ values":               meta(metaValues, 1<<60),
		"a chunk of negative size":            meta(metaCompressed, -1),
		"a chunk beyond the file":             meta(metaCompressed, 1<<60),
		"a chunk that starts beyond the file": meta(metaDataPage, 1<<40),
		"a chunk before the file":             meta(metaDataPage, -3),
		"snappy that claims 1 GiB":            withCodec(1, 200<<20),
		"gzip that claims 200 MiB":            withCodec(2, 200<<20),
		"brotli that claims 200 MiB":          withCodec(4, 200<<20),
		"zstd that claims 200 MiB":            withCodec(6, 200<<20),
		"lz4 that claims 200 MiB":             withCodec(7, 200<<20),
		"a codec of its own":                  withCodec(99, 64),
		"a dictionary of 2³¹ values":          dictionary(huge, 0),
		"a dictionary of 2 GiB":               dictionary(1, huge),
		"a dictionary of no value":            dictionary(0, 0),
		"2⁶² rows":                            func() handmade { h := good(); h.rows, h.values = 1<<62, 1<<62; return h },
		"more rows than values":               func() handmade { h := good(); h.rows = 11; return h },
		"20 million rows in 200 bytes":        func() handmade { h := good(); h.rows, h.values = 20e6, 20e6; return h },
		"a million rows that are not there":   func() handmade { h := good(); h.rows, h.values = 1e6, 1e6; return h },
		"negative rows":                       func() handmade { h := good(); h.rows = -1; return h },
	} {
		data := make().file()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_, err = readsAll(f, 0)
		}
		runtime.ReadMemStats(&after)
		if err == nil || !IsDamage(err) || errors.Is(err, errPanic) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 40<<20 {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
	}
}

func TestSchemaThatIsNoTreeIsRefused(t *testing.T) {
	var root, leaf structure
	root.setBytes(elemName, []byte("r"))
	leaf.setBytes(elemName, []byte("l"))
	leaf.setInt(elemType, tI32, 1)
	children := func(n int64) structure {
		s := root.edit()
		s.setInt(elemChildren, tI32, n)
		return s
	}
	deep := slices.Repeat([]structure{children(1)}, 1000)
	long := children(1)
	long.setBytes(elemName, bytes.Repeat([]byte("n"), 40<<20))
	for name, schema := range map[string][]structure{
		"nothing":              {},
		"too few":              {children(3), leaf},
		"too many":             {children(1), leaf, leaf},
		"2³¹ children":         {children(1 << 31), leaf},
		"deeper than a stack":  append(deep, leaf),
		"names longer than it": {children(2), long, leaf, long, leaf},
		"a nameless column":    {children(1), leaf[:1]},
	} {
		if leaves, err := leavesOf(schema); !IsDamage(err) {
			t.Errorf("%s: %v, %d columns", name, err, len(leaves))
		}
	}
	if leaves, err := leavesOf([]structure{children(2), leaf, children(1), leaf}); err != nil || leaves[0].Name+" "+leaves[1].Name != "l r.l" {
		t.Errorf("%v, %v", leaves, err)
	}
}
