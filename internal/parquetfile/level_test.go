package parquetfile

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

type prose struct {
	Text string `parquet:"text,plain"`
	Note string `parquet:"note,plain"`
}

// proseRows have texts of words of very different frequencies, of which the levels of zstd make different sizes.
func proseRows(n int) []prose {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		for range 2 + r.IntN(8) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	rows := make([]prose, n)
	for i := range rows {
		var b strings.Builder
		for range 300 {
			x := r.Float64()
			b.WriteString(words[int(x*x*x*float64(len(words)))] + " ")
		}
		rows[i] = prose{Text: b.String(), Note: "as before"}
	}
	return rows
}

func TestPagesOfSnappyArePackedAboutAsTightlyAsTheyWere(t *testing.T) {
	rows := proseRows(900)
	tight := write(t, layout{&parquet.Snappy, 1, 1 << 18, 500, true}, rows) // as parquet-go packs
	keep := func(row int64) bool { return row%9 != 4 }
	out := copied(t, tight, 2, keep)
	if most := float64(len(tight)) * 8 / 9 * 1.02; float64(len(out)) > most {
		t.Errorf("%d bytes, at most %.0f are the share of its rows", len(out), most)
	}
	// A page as most writers pack it: its size decides.
	f := &filter{page: &page{raw: []byte(strings.Repeat(rows[0].Text, 3) + rows[1].Text)}}
	c := codec{id: format.Snappy}
	loose := len(s2.EncodeSnappy(nil, f.page.raw))
	for packed, want := range map[int]bool{loose: true, loose * 9 / 10: false} {
		l := newLevel()
		must(t, l.decide(f, &pageHead{kind: format.DataPage, compressed: packed, uncompressed: len(f.page.raw)}, c))
		if l.fast != want {
			t.Errorf("packed in %d bytes, where the fastest level has %d: fast is %v", packed, loose, l.fast)
		}
	}
}

func TestPagesOfZstdArePackedAboutAsTightlyAsTheyWere(t *testing.T) {
	rows := proseRows(900)
	keep := func(row int64) bool { return row%9 != 4 }
	var sizes []int
	for _, level := range []zstd.Level{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		for version := 1; version <= 2; version++ {
			data := write(t, layout{&zstd.Codec{Level: level}, version, 1 << 18, 500, true}, rows)
			out := copied(t, data, 1, keep)
			if !bytes.Equal(out, copied(t, data, 3, keep)) {
				t.Errorf("level %v: other bytes with three threads", level)
			}
			if n := len(readRows[prose](t, out)); n != 800 {
				t.Fatalf("level %v: %d rows, want 800", level, n)
			}
			// No level is tighter than the default one, which all above it are packed with.
			if most := float64(len(data)) * 8 / 9 * 1.02; level != zstd.SpeedBestCompression && float64(len(out)) > most {
				t.Errorf("level %v: %d bytes, at most %.0f are the share of its rows", level, len(out), most)
			}
			sizes = append(sizes, len(out))
		}
	}
	if sizes[0] <= sizes[2] || sizes[1] <= sizes[3] {
		t.Errorf("%v bytes: the fastest level was not taken where the file has it", sizes)
	}
	if sizes[2] != sizes[4] || sizes[3] != sizes[5] {
		t.Errorf("%v bytes: a tighter file is packed otherwise than one of the default level", sizes)
	}
}
