package parquetfile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	googleuuid "github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
)

// entry is a row with columns of every type, encoding and shape.
type entry struct {
	ID       int64            `parquet:"id,delta"`
	Text     string           `parquet:"text,plain"`
	Title    *string          `parquet:"title,optional,dict"`
	Lang     string           `parquet:"lang,dict"`
	Length   string           `parquet:"length,delta"`
	Front    []byte           `parquet:"front,plain"`
	Meta     meta             `parquet:"meta"`
	Tags     []string         `parquet:"tags,list,dict"`
	Scores   map[string]int32 `parquet:"scores"`
	Links    []link           `parquet:"links"`
	Flag     bool             `parquet:"flag"`
	MaybeB   *bool            `parquet:"maybe,optional"`
	Small    int32            `parquet:"small,delta"`
	Unsigned uint32           `parquet:"unsigned"`
	Float    float32          `parquet:"float,split"`
	Double   *float64         `parquet:"double,optional,split"`
	Old      deprecated.Int96 `parquet:"old"`
	Fixed    [5]byte          `parquet:"fixed"`
	UUID     googleuuid.UUID  `parquet:"uuid,uuid,dict"`
	Cents    int64            `parquet:"cents,decimal(2:18)"`
	Day      int32            `parquet:"day,date"`
	When     time.Time        `parquet:"when,timestamp(microsecond)"`
	Never    *int64           `parquet:"never,optional"`
}

type meta struct {
	ID    *string `parquet:"id,optional"`
	Inner *inner  `parquet:"inner,optional"`
}

type inner struct {
	Source *string `parquet:"source,optional,dict"`
	Rank   int16   `parquet:"rank"`
}

type link struct {
	URL    string   `parquet:"url"`
	Anchor *string  `parquet:"anchor,optional"`
	Depths []uint16 `parquet:"depths"`
}

func pointer[T any](v T) *T { return &v }

// entries makes rows with nulls, runs and repeats.
func entries(n int, seed uint64) []entry {
	r := rand.New(rand.NewPCG(seed, 1))
	word := func() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(12)) }
	maybe := func(v string) *string {
		if r.IntN(3) == 0 {
			return nil
		}
		return &v
	}
	rows := make([]entry, n)
	for i := range rows {
		e := &rows[i]
		*e = entry{
			ID: int64(i)*1000 - int64(r.IntN(100_000)), Text: fmt.Sprintf("row %d %s é", i, strings.Repeat(word()+" ", r.IntN(20))),
			Title: maybe(fmt.Sprintf("title %d", r.IntN(40))), Lang: []string{"en", "de", "fr"}[r.IntN(3)],
			Length: word() + word(), Front: []byte(fmt.Sprintf("prefix/%s/%s", word(), word())),
			Flag: r.IntN(2) == 0, Small: int32(r.Uint32()), Unsigned: r.Uint32(), Float: r.Float32() - 0.5,
			Old: deprecated.Int96{r.Uint32(), r.Uint32() & 0x3fff, 2440588 + uint32(r.IntN(20_000))}, UUID: googleuuid.UUID{1, byte(r.IntN(9)), 0xab},
			Cents: int64(r.IntN(1_000_000)) - 500_000, Day: int32(r.IntN(20_000)), When: time.UnixMicro(r.Int64N(1e15)).UTC(),
		}
		copy(e.Fixed[:], word()+"12345")
		e.Meta.ID = maybe(fmt.Sprint("m", i))
		if r.IntN(2) == 0 {
			e.Meta.Inner = &inner{Source: maybe(word()), Rank: int16(r.IntN(9))}
		}
		if r.IntN(4) > 0 {
			e.Double = pointer(math.Exp(float64(r.IntN(100)) - 50))
			e.MaybeB = pointer(r.IntN(2) == 0)
		}
		for range r.IntN(4) {
			e.Tags = append(e.Tags, fmt.Sprint("t", r.IntN(30)))
			e.Links = append(e.Links, link{URL: word(), Anchor: maybe(word()), Depths: make([]uint16, r.IntN(3))})
		}
		if r.IntN(2) == 0 {
			e.Scores = map[string]int32{word() + "k": int32(i)}
		}
	}
	return rows
}

// layout says how a file is written.
type layout struct {
	codec    compress.Codec
	version  int // of data pages
	page     int // bytes
	rowGroup int64
	index    bool
}

func (l layout) String() string {
	return fmt.Sprintf("%v v%d pages of %d groups of %d index %v", l.codec, l.version, l.page, l.rowGroup, l.index)
}

func layouts() (all []layout) {
	for i, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			all = append(all, layout{codec, version, []int{200, 1000, 1 << 20}[(i+version)%3], []int64{150, 10_000}[(i+version)%2], i != 3})
		}
	}
	return all
}

// write makes a file of rows.
func write[T any](t testing.TB, l layout, rows []T, more ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	o := append([]parquet.WriterOption{
		parquet.Compression(l.codec), parquet.DataPageVersion(l.version), parquet.PageBufferSize(l.page),
		parquet.MaxRowsPerRowGroup(l.rowGroup), parquet.DataPageStatistics(true), parquet.KeyValueMetadata("who", "test"),
		parquet.KeyValueMetadata("a", ""), parquet.CreatedBy("test", "1", "2"),
	}, more...)
	w := parquet.NewGenericWriter[T](&b, o...)
	// In pieces: a page ends where a write does.
	for len(rows) > 0 {
		n := min(37, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readRows reads a file with parquet-go.
func readRows[T any](t testing.TB, data []byte) []T {
	t.Helper()
	rows, err := parquet.Read[T](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func open(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
