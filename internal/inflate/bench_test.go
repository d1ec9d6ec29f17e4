package inflate

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"

	"github.com/alike-dev/alike/internal/shareddata"
)

// BenchmarkRead decodes corpora, packed by compress/gzip, and extremes, beside two libraries. MB/s are of decoded
// bytes.
func BenchmarkRead(b *testing.B) {
	const size = 20 << 20
	for _, c := range []struct {
		name  string
		level int
		data  func(b *testing.B) []byte
	}{
		{"articles/1", 1, file("wiki_long_en", "docs.jsonl.zst")},
		{"articles/6", 6, file("wiki_long_en", "docs.jsonl.zst")},
		{"articles/9", 9, file("wiki_long_en", "docs.jsonl.zst")},
		{"newswire", 6, file("reuters21578", "docs.jsonl.zst")},
		{"chinese", 6, file("wiki_multilingual", "zh.jsonl.zst")},
		{"vietnamese", 6, file("wiki_multilingual", "vi.jsonl.zst")},
		{"records", 6, func(*testing.B) []byte { return records(size) }},
		{"base64", 6, func(*testing.B) []byte { return random64(size) }},
		{"zeros", 6, func(*testing.B) []byte { return make([]byte, size) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := c.data(b)
			packed := packAt(c.level)(b, data[:min(len(data), size)])
			for _, d := range []struct {
				name  string
				reset func(io.Reader) (io.Reader, error)
			}{
				{"inflate", resetting(new(Reader))}, {"klauspost", resetting(new(kgzip.Reader))}, {"std", resetting(new(gzip.Reader))},
			} {
				b.Run(d.name, func(b *testing.B) {
					buf := make([]byte, 1<<20)
					b.SetBytes(int64(min(len(data), size)))
					for b.Loop() {
						r, err := d.reset(bytes.NewReader(packed))
						for err == nil {
							_, err = r.Read(buf)
						}
						if err != io.EOF {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

func resetting(d interface {
	io.Reader
	Reset(io.Reader) error
}) func(io.Reader) (io.Reader, error) {
	return func(r io.Reader) (io.Reader, error) { return d, d.Reset(r) }
}

func file(path ...string) func(*testing.B) []byte {
	return func(b *testing.B) []byte {
		data, err := io.ReadAll(shareddata.Open(b, path...))
		must(b, err)
		return data
	}
}

// records are short records of events.
func records(size int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var out bytes.Buffer
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, `{"id": %d, "user": "u%d", "ok": %v, "ms": %.2f}`+"\n", i, r.IntN(50_000), r.IntN(9) > 0, 100*r.ExpFloat64())
	}
	return out.Bytes()
}

// random64 is the worst case, literals alone.
func random64(size int) []byte {
	raw := make([]byte, size*3/4)
	for i := range raw {
		raw[i] = byte(rand.Uint32())
	}
	return base64.StdEncoding.AppendEncode(nil, raw)
}
