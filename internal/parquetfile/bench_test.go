package parquetfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/alike-dev/alike/internal/shareddata"
)

// article is a row as corpora have them.
type article struct {
	ID   string   `json:"id" parquet:"id"`
	Text string   `json:"text" parquet:"text"`
	Lang string   `parquet:"lang,dict"`
	Tags []string `parquet:"tags,list,dict"`
}

// BenchmarkCopy copies a file of articles without every nth row, beside a program that
// reads and writes rows with parquet-go. MB/s are of the file. Run it on one CPU:
// seconds are those of a thread then.
func BenchmarkCopy(b *testing.B) {
	var rows []article
	for d := json.NewDecoder(shareddata.Open(b, "wiki_multilingual", "en.jsonl.zst")); ; {
		var a article
		err := d.Decode(&a)
		if errors.Is(err, io.EOF) {
			break
		}
		must(b, err)
		a.Lang, a.Tags = "en", []string{"wiki", a.ID[len(a.ID)-1:]}
		rows = append(rows, a)
	}
	l := layout{&parquet.Zstd, 1, 1 << 20, 2000, true}
	data := write(b, l, rows)
	for _, c := range []struct {
		name string
		keep func(row int64) bool
	}{
		{"without=tenth", func(row int64) bool { return row%10 != 3 }},
		{"without=thousandth", func(row int64) bool { return row%1000 != 3 }},
		{"without=half", func(row int64) bool { return row%2 == 0 }},
	} {
		b.Run(c.name+"/copy", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				must(b, open(b, data).Copy(context.Background(), io.Discard, 1, 0, nil, c.keep, nil))
			}
		})
		b.Run(c.name+"/parquet-go", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				must(b, rewrite(data, l, c.keep))
			}
		})
	}
}

// rewrite is Copy with parquet-go alone, by its rows without a Go type.
func rewrite(data []byte, l layout, keep func(row int64) bool) error {
	in, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	w := parquet.NewWriter(io.Discard, in.Schema(), parquet.Compression(l.codec), parquet.DataPageVersion(l.version),
		parquet.PageBufferSize(l.page), parquet.MaxRowsPerRowGroup(l.rowGroup))
	r := parquet.NewReader(in)
	rows := make([]parquet.Row, 256)
	for at := int64(0); ; {
		n, err := r.ReadRows(rows)
		kept := make([]parquet.Row, 0, n)
		for i := range n {
			if keep(at) {
				kept = append(kept, rows[i])
			}
			at++
		}
		if _, werr := w.WriteRows(kept); werr != nil {
			return werr
		}
		if errors.Is(err, io.EOF) {
			return errors.Join(w.Close(), r.Close())
		}
		if err != nil {
			return err
		}
	}
}

// BenchmarkPack packs articles by the two levels of each codec that has them, a page of a MiB after the
// other. packed is the share of their size.
func BenchmarkPack(b *testing.B) {
	text, err := io.ReadAll(shareddata.Open(b, "wiki_long_en", "docs.jsonl.zst"))
	must(b, err)
	for _, id := range []format.CompressionCodec{format.Zstd, format.Snappy} {
		for _, fast := range []bool{false, true} {
			c := codec{id, fast}
			b.Run(fmt.Sprintf("%v/fast=%v", id, fast), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var packed int
				var page []byte
				for b.Loop() {
					packed = 0
					for part := range slices.Chunk(text, 1<<20) {
						page, err = c.encode(page, part)
						must(b, err)
						packed += len(page)
					}
				}
				b.ReportMetric(float64(packed)/float64(len(text)), "packed")
			})
		}
	}
}
