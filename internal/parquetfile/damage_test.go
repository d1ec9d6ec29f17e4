package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/bitset"
)

// tiny is a file with pages of some rows, small enough to damage it everywhere.
func tiny(t testing.TB, version int) []byte {
	type row struct {
		Text string  `parquet:"text,plain"`
		Lang *string `parquet:"lang,optional,dict"`
		N    []int64 `parquet:"n"`
	}
	rows := make([]row, 14)
	for i := range rows {
		rows[i] = row{Text: fmt.Sprintf("text %d", i), N: make([]int64, i%3)}
		if i%5 > 0 {
			rows[i].Lang = pointer(string(rune('a' + i%4)))
		}
	}
	codec := layout{&parquet.Snappy, version, 60, 8, true}
	if version == 1 {
		codec.codec = &parquet.Zstd
	}
	return write(t, codec, rows)
}

func TestCutFileIsRefused(t *testing.T) {
	data := tiny(t, 2)
	for n := range data {
		_, err := Open(bytes.NewReader(data[:n]), int64(n))
		if !IsDamage(err) || errors.Is(err, errPanic) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
}

// check opens a file that may be damaged and reads and copies what can be. It
// returns the number of rows read.
func check(t testing.TB, what string, data []byte) (rows int, err error) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		rows, err = readsAll(f, 0)
	}
	if err != nil && (!IsDamage(err) || errors.Is(err, errPanic)) {
		t.Fatalf("%s: %v", what, err)
	}
	return rows, err
}

func TestFlippedBitIsAnErrorOrChangesSomething(t *testing.T) {
	for version := 1; version <= 2; version++ {
		data := tiny(t, version)
		f := open(t, data)
		inPage := make([]bool, len(data))
		for g := range f.groups {
			for i := range f.Leaves {
				c, err := f.chunk(g, i)
				must(t, err)
				for cur := f.cursor(c, DefaultMaxPage); ; {
					h, err := cur.next()
					if err == io.EOF {
						break
					}
					must(t, err)
					for at := h.at + int64(h.size); at < h.end(); at++ {
						inPage[at] = true
					}
				}
			}
		}
		for i := version; i < len(data); i += 3 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << (i * 5 % 8)
			what := fmt.Sprintf("version %d, byte %d", version, i)
			if rows, err := check(t, what, bad); inPage[i] && err == nil {
				t.Errorf("%s: %d rows are read though a page has a wrong checksum", what, rows)
			}
		}
	}
}

func TestRowsBeforeTheDamageAreReadAndCanBeCopied(t *testing.T) {
	rows := entries(600, 8)
	data := write(t, layout{&parquet.Zstd, 2, 600, 200, true}, rows)
	whole := readColumns(t, open(t, data), 500, "id", "text")
	f := open(t, data)
	for _, at := range []struct{ group, column int }{{0, 1}, {1, 1}, {2, 0}} {
		c, err := f.chunk(at.group, at.column)
		must(t, err)
		bad := bytes.Clone(data)
		var h *pageHead
		for cur := f.cursor(c, DefaultMaxPage); h == nil || h.at < (c.start+c.end)/2; {
			h, err = cur.next()
			must(t, err)
		}
		bad[h.at+int64(h.size)+int64(h.compressed/2)]++
		b := open(t, bad)
		r, err := b.NewReader([]int{0, 1}, 500, 0)
		must(t, err)
		n := 0
		for err == nil {
			var p *Piece
			var good int
			if p, err = r.Next(); err != nil {
				break
			}
			good, err = p.Load()
			text := p.Cells(1)
			for range good {
				if v, _ := text.Next(); string(v) != whole[n][1] {
					t.Fatalf("row %d is %q, want %q", n, v, whole[n][1])
				}
				n++
			}
			p.Release()
		}
		if !errors.Is(err, ErrCorrupt) || n < at.group*200+50 || n >= at.group*200+200 {
			t.Errorf("damage in the middle of row group %d: %d rows, %v", at.group, n, err)
		}
		keep := func(row int64) bool { return row < int64(n) && row%3 > 0 }
		if have, want := copied(t, bad, 2, keep), copied(t, data, 2, keep); !bytes.Equal(have, want) {
			t.Errorf("damage in row group %d: the rows before it are copied in another way", at.group)
		}
	}
}

func TestFileThatBecomesShorterIsTold(t *testing.T) {
	data := write(t, layouts()[0], entries(300, 2))
	r := &shrinking{bytes.NewReader(data), int64(len(data))}
	f, err := Open(r, int64(len(data)))
	must(t, err)
	r.size = 1000
	if _, err := readsAll(f, 0); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
}

type shrinking struct {
	io.ReaderAt
	size int64
}

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > s.size {
		return 0, io.EOF
	}
	return s.ReaderAt.ReadAt(p, off)
}

func TestManyFlippedBitsNeverPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range layouts() {
		data := write(t, l, entries(30, 3))
		for range 20 {
			bad := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			}
			check(t, l.String(), bad)
		}
	}
}

// FuzzFile reads and copies files that may be damaged, or anything.
func FuzzFile(f *testing.F) {
	f.Add(tiny(f, 1))
	f.Add(tiny(f, 2))
	for _, l := range layouts() {
		f.Add(write(f, l, entries(3, 1)))
	}
	crossing, _ := rowsThatCrossPages(10, 3)
	f.Add(crossing.file())
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "fuzz", data) })
}

// FuzzPage decodes the body of a page of any column, and what decodes loses rows
// and is decoded again.
func FuzzPage(f *testing.F) {
	for i, e := range []format.Encoding{format.Plain, format.RLE, format.RLEDictionary, format.DeltaBinaryPacked, format.DeltaByteArray, format.ByteStreamSplit} {
		f.Add(uint8(i), uint8(e), uint16(5), uint8(i), append([]byte{2, 0, 0, 0, 10, 1}, "12345678123456781234567812345678"...))
	}
	f.Fuzz(func(t *testing.T, shape, encoding uint8, n uint16, levels uint8, body []byte) {
		leaf := &Leaf{physical: physical(shape % 8), maxDef: int(levels % 3), maxRep: int(levels >> 4 % 2)}
		if leaf.maxRep > 0 {
			leaf.maxDef++
		}
		if leaf.width = widths[leaf.physical]; leaf.physical == fixedArrays {
			leaf.width = 5
		}
		c := &chunk{leaf: leaf}
		dict := &values{n: 3, width: leaf.width, data: make([]byte, 48), spans: []span{{0, 1}, {1, 1}, {1, 30}}}
		h := &pageHead{kind: format.DataPage, encoding: format.Encoding(encoding % 10), values: int(n), uncompressed: len(body),
			repEncoding: format.RLE, defEncoding: format.RLE}
		fl := &filter{page: &page{body: body}}
		if err := fl.page.decode(h, c, dict, 1<<20); err != nil {
			if !IsDamage(err) {
				t.Fatal(err)
			}
			return
		}
		keep := bitset.New[int](int(n) + 1)
		for i := 0; i <= int(n); i += 2 {
			keep.Add(i)
		}
		k := fl.choose(leaf, h.values, keep, 1)
		var want []string
		fl.each(func(v []byte) { want = append(want, string(v)) })
		sub := structure{}
		for _, id := range []int16{dataValues, dataEncoding, dataDefEncoding, dataRepEncoding} {
			sub.setInt(id, tI32, 0)
		}
		h.fields.setInt(headType, tI32, 0)
		h.fields.setStruct(headData, sub)
		out, _, err := fl.assemble(nil, h, leaf, c.codec, k, []uint32{0, 1, 2})
		must(t, err)
		var again pageHead
		must(t, again.parse(out))
		again.encoding, again.repEncoding, again.defEncoding = h.encoding, format.RLE, format.RLE
		p := &page{body: out[again.size:]}
		must(t, p.decode(&again, c, dict, 1<<20))
		if p.values.n != len(want) || again.values != k.levels {
			t.Fatalf("%d values, want %d", p.values.n, len(want))
		}
		for i := range want {
			if have := string(p.values.at(i)); have != want[i] {
				t.Fatalf("value %d is %q, want %q", i, have, want[i])
			}
		}
	})
}
