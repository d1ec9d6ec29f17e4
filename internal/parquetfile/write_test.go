package parquetfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// slowWriter is Writer, by parquet-go. It writes so many rows at once.
type slowWriter struct {
	w    *parquet.GenericWriter[any]
	row  parquet.Row
	rows []parquet.Row
	once int
	c    []Column
}

func newSlowWriter(out *bytes.Buffer, columns []Column, most int, codec format.CompressionCodec, once int) *slowWriter {
	s := &slowWriter{once: once, c: columns}
	group := parquet.Group{}
	for _, c := range columns {
		node := map[Kind]parquet.Node{
			Text: parquet.String(), Bytes: parquet.Leaf(parquet.ByteArrayType), Integer: parquet.Leaf(parquet.Int64Type), Double: parquet.Leaf(parquet.DoubleType),
		}[c.Kind]
		for level := range c.Levels {
			if level > 0 {
				node = parquet.Group{c.Name: node}
			}
			node = parquet.Optional(node)
		}
		group[c.Name] = node
	}
	name, rest, _ := strings.Cut(writerName, " version ")
	version, _, _ := strings.Cut(rest, "(")
	s.w = parquet.NewGenericWriter[any](out, parquet.NewSchema("rows", group), parquet.Compression(parquet.LookupCompressionCodec(codec)),
		parquet.MaxRowsPerRowGroup(int64(most)), parquet.CreatedBy(name, version, ""))
	return s
}

func (s *slowWriter) add(column int, v parquet.Value, level int) {
	s.row = append(s.row, v.Level(0, level, column))
}

func (s *slowWriter) end(t *rapid.T, last bool) {
	if !last {
		s.rows, s.row = append(s.rows, s.row), nil
	}
	if len(s.rows) == s.once || last {
		if _, err := s.w.WriteRows(s.rows); err != nil {
			t.Fatal(err)
		}
		s.rows = nil
	}
}

func TestAWriterWritesWhatTheSlowOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []Column
		for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
			c := Column{Name: fmt.Sprint("c", i), Kind: Kind(rapid.IntRange(0, 3).Draw(t, "kind"))}
			c.Levels = rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "levels")
			columns = append(columns, c)
		}
		most := rapid.SampledFrom([]int{64, 640, 1 << 20}).Draw(t, "row group")
		step, once := writerStep, 1024
		if rapid.Bool().Draw(t, "row by row") {
			step, once = 1, 1
		}
		codec := codec{id: rapid.SampledFrom([]format.CompressionCodec{format.Zstd, format.Uncompressed, format.Snappy, format.Gzip}).Draw(t, "codec")}
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "a", "bc", "\xff\xff", "long"}), 1, 10).Draw(t, "texts")
		numbers := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(-0.5), rapid.Just(1.0)), 1, 10).Draw(t, "numbers")
		order := rapid.SampledFrom([]string{"", "rises", "falls"}).Draw(t, "order")
		rows := rapid.SampledFrom([]int{0, 1, 5, 63, 64, 65, 700, 1280, 3000}).Draw(t, "rows")
		nulls := rapid.SampledFrom([]int{1, 2, 3, 700}).Draw(t, "nulls")
		long := strings.Repeat(rapid.SampledFrom([]string{"x", "\xff", "xyz"}).Draw(t, "unit"), rapid.SampledFrom([]int{17, 500, 3000}).Draw(t, "length"))

		var fast, slow bytes.Buffer
		w := newWriter(&fast, "rows", columns, most, codec, step)
		s := newSlowWriter(&slow, columns, most, codec.id, once)
		for row := range rows {
			at := row * 7
			switch order {
			case "rises":
				at = row * len(numbers) / rows
			case "falls":
				at = (rows - row - 1) * len(numbers) / rows
			}
			for i, c := range columns {
				text, number := kinds[(at+i)%len(kinds)], numbers[(at+i)%len(numbers)]
				if order != "" {
					number = float64(at)
				}
				if text == "long" {
					text = long
				}
				switch {
				case c.Levels > 0 && (row/nulls+i)%2 == 0:
					w.Null(i)
					s.add(i, parquet.NullValue(), 0)
				case c.Kind <= Bytes:
					w.Bytes(i, []byte(text))
					s.add(i, parquet.ByteArrayValue([]byte(text)), c.Levels)
				case c.Kind == Integer:
					w.Integer(i, int64(number*100))
					s.add(i, parquet.Int64Value(int64(number*100)), c.Levels)
				default:
					w.Double(i, number)
					s.add(i, parquet.DoubleValue(number), c.Levels)
				}
			}
			if err := w.Row(); err != nil {
				t.Fatal(err)
			}
			s.end(t, false)
		}
		s.end(t, true)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fast.Bytes(), slow.Bytes()) {
			f, err := Open(bytes.NewReader(fast.Bytes()), int64(fast.Len()))
			p, errP := parquet.OpenFile(bytes.NewReader(slow.Bytes()), int64(slow.Len()))
			t.Fatalf("%d bytes, and the slow one writes %d: %v, %v %v\n%+v", fast.Len(), slow.Len(), err, errP, f.meta, p.Metadata())
		}
	})
}
