package parquetfile

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// drawStruct makes any struct, nested up to depth.
func drawStruct(t *rapid.T, depth int) structure {
	var s structure
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		id := int16(rapid.IntRange(1, 40).Draw(t, "id"))
		switch rapid.IntRange(0, 5).Draw(t, "type") {
		case 0:
			s.setBool(id, rapid.Bool().Draw(t, "bool"))
		case 1:
			s.setInt(id, rapid.SampledFrom([]byte{tI16, tI32, tI64}).Draw(t, "width"), int64(rapid.Int16().Draw(t, "int")))
		case 2:
			s.setBytes(id, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes"))
		case 3:
			s.set(id, tDouble, []byte("12345678"))
		case 4:
			var elems [][]byte
			for range rapid.IntRange(0, 20).Draw(t, "length") {
				elems = append(elems, appendBinary(nil, rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "element")))
			}
			s.setList(id, tBinary, elems)
		default:
			if depth > 0 {
				s.setStruct(id, drawStruct(t, depth-1))
			}
		}
	}
	return s
}

func TestStructIsWrittenAsItWasReadAndBreaksOffAtEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStruct(t, 3)
		b := s.append(nil)
		again, n, err := parseStruct(append(bytes.Clone(b), "more"...))
		if err != nil || n != len(b) || !bytes.Equal(again.append(nil), b) || len(again) != len(s) {
			t.Fatalf("%v is read as %v, %d bytes of %d, error %v", s, again, n, len(b), err)
		}
		for i := range b {
			if _, _, err := parseStruct(b[:i]); !errors.Is(err, errShort) {
				t.Fatalf("%d of %d bytes: error %v", i, len(b), err)
			}
		}
	})
}

func TestMetadataReadsAsParquetGoReadsIt(t *testing.T) {
	data := write(t, layouts()[1], entries(200, 1))
	f := open(t, data)
	var meta format.FileMetaData
	must(t, thrift.Unmarshal(new(thrift.CompactProtocol), f.meta.append(nil), &meta))
	if !reflect.DeepEqual(&meta, openGo(t, data).Metadata()) {
		t.Error("other metadata")
	}
	c, err := f.chunk(0, f.Column("lang"))
	must(t, err)
	if want := meta.RowGroups[0].Columns[f.Column("lang")].MetaData; c.values != want.NumValues || c.start != want.DictionaryPageOffset ||
		c.end != c.start+want.TotalCompressedSize {
		t.Errorf("a chunk from %d to %d, want %+v", c.start, c.end, want)
	}
}

func TestHostileMetadataIsRefusedAtNoCost(t *testing.T) {
	deep := bytes.Repeat([]byte{0x1c}, 10<<20) // a struct in a struct …
	for name, b := range map[string][]byte{
		"ten million structs in each other": deep,
		"lists in each other":               bytes.Repeat([]byte{0x19}, 1<<20),
		"a list that claims 2³¹ elements":   {0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0},
		"a string that claims 2³¹ bytes":    {0x18, 0xff, 0xff, 0xff, 0xff, 0x07, 'x'},
		"a map that claims 2³¹ entries":     {0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x88},
		"a field twice":                     {0x15, 2, 0x05, 2, 2, 0},
		"an unknown type":                   {0x1e, 0},
		"a number without an end":           bytes.Repeat([]byte{0x15, 0xff, 0xff}, 20),
	} {
		if _, _, err := parseStruct(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := structure{{1, tList, append([]byte{0xf3, 0xff, 0xff, 0xff, 0x07}, make([]byte, 0x1000000)...)}}
	if _, ok := long.list(1, tI8); ok {
		t.Error("a list of 16 million elements is taken apart")
	}
}
