package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mikelolasagasti/xz"

	"github.com/alike-dev/alike/corpus/internal/codec"
)

func FuzzNameFormat(f *testing.F) {
	for _, s := range []string{"a.jsonl", "A.NDJSON.GZ", "x.csv.zst", ".tsv", ".gz", "a.jsonl.xz.bz2", "a.parquet", "caf\xe9.bz2", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		format, c, record := NameFormat(name)
		if record == (format == Text) || format == ByName {
			t.Fatalf("%q is a file of %q, of records: %v", name, format, record)
		}
		if (Options{Format: format}).Validate() != nil {
			t.Fatalf("%q is a file of %q", name, format)
		}
		if _, err := codec.CompressorOf(codec.Name(c)); err != nil {
			t.Fatal(err)
		}
		if c == Plain && format != Parquet {
			for c, s := range suffix {
				if f2, c2, r2 := NameFormat(name + strings.ToUpper(s)); f2 != format || c2 != c || r2 != record {
					t.Fatalf("%q compressed by %q is %q of %q", name, c, f2, c2)
				}
			}
		}
		// Folders do not count.
		if f2, c2, _ := NameFormat("folder.csv.gz/" + name); name != "" && (f2 != format || c2 != c) {
			t.Fatalf("%q in a folder is %q of %q", name, f2, c2)
		}
	})
}

func FuzzTSV(f *testing.F) {
	for _, s := range []string{"x\ty\n", "\t\r\n\n", "\"x\t\"", "x\n\ty\t", "\r\r\n\x00\t\xff\n"} {
		f.Add([]byte(s), uint8(3))
	}
	write := rewriter(f, "a.tsv")
	f.Fuzz(func(t *testing.T, data []byte, size uint8) { checkTable(t, write, TSV, data, int(size)+1) })
}

// FuzzBlocks holds a file of any format and compression, in blocks of any size,
// to the same bytes in one block.
func FuzzBlocks(f *testing.F) {
	for format := range 5 {
		for c := range 5 {
			f.Add([]byte("\ufeffid,text\r\n\r\n1,a\n2,\"b\nc\"\n\n3,\"d\n4,e\n"+strings.Repeat("x", 50)+"\nlast"), uint8(format), uint8(c), uint8(7), uint8(40), uint8(3))
		}
	}
	formats := []Format{JSONL, CSV, TSV, Lines, Text}
	plain := rewriter(f, "a")
	writers := map[Compression]func([]byte) Source{Plain: plain}
	for _, c := range compressions {
		writers[c] = rewriter(f, "a"+suffix[c])
	}
	f.Fuzz(func(t *testing.T, data []byte, format, compression, size, limit, parts uint8) {
		o := Options{BlockSize: 1 << 20, MaxRecord: int64(limit) + 1, Format: formats[int(format)%len(formats)]}
		o.TextField = "text"
		s := plain(data)
		s.Format = o.Format
		want, wantErr := readAll(t, s, o, 1)
		c := append([]Compression{Plain}, compressions...)[int(compression)%5]
		s = writers[c](pack(t, c, data, int(parts)%9+1))
		s.Format = o.Format
		o.BlockSize = int(size) + 1
		have, err := readAll(t, s, o, 2)
		if errors.Is(err, ErrBomb) { // the file ends there
			if c == Plain || len(data) <= bombRecords*int(o.MaxRecord) {
				t.Fatalf("%d bytes, limit %d: %v", len(data), o.MaxRecord, err)
			}
			compare(t, "before the bomb", have, want[:min(len(have), len(want))])
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s %s, block %d: %v, want %v", o.Format, c, size, err, wantErr)
		}
		compare(t, fmt.Sprintf("%s %q, %q, block %d, limit %d", o.Format, c, data, o.BlockSize, o.MaxRecord), have, want)
	})
}

// FuzzXzStreams holds files of xz streams, or of anything, to the decoder of
// whole files.
func FuzzXzStreams(f *testing.F) {
	f.Add(pack(f, Xz, []byte("a\nb\nc\n"), 1))
	f.Add(pack(f, Xz, bytes.Repeat([]byte("a line\n"), 3000), 3))
	f.Add(append(pack(f, Xz, nil, 1), make([]byte, 8)...))
	for _, data := range xzPrograms(f) {
		f.Add(data)
	}
	write := rewriter(f, "a.txt.xz")
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := decodeXz(data)
		if len(plain) == 8<<20 || errors.Is(err, xz.ErrMemlimit) {
			return
		}
		checkUnits(t, write(data), data, plain, err)
	})
}

func decodeXz(data []byte) ([]byte, error) {
	d, err := xz.NewReader(bytes.NewReader(data), codec.MaxXzDictionary)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(d, 8<<20))
}
