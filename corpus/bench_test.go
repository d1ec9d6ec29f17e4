package corpus

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fastjson"
)

// benchLines makes about size bytes of JSONL: texts of English-like words with a
// line break every 80 bytes or so.
func benchLines(size, textLen int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id": "doc-%d", "url": "https://example.org/%d/index.html", "text": "`, i, i)
		for end := b.Len() + textLen; b.Len() < end; {
			for range 12 {
				b.WriteString("etaoinshrdlu"[:1+r.IntN(11)] + " ")
			}
			b.WriteString(`\n`)
		}
		fmt.Fprintf(&b, "\", \"score\": %d.5, \"tags\": [\"a\", \"b\"]}\n", r.IntN(100))
	}
	return []byte(b.String())
}

// readBlocks reads a source on so many goroutines.
func readBlocks(b *testing.B, s Source, o Options, workers int) {
	f, err := Open(s, o)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var block Block
			var r Record
			p := NewParser(o)
			for {
				err := f.Next(&block)
				if err == io.EOF {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
				p.Start(f, &block)
				for p.Next(&r) {
					if r.Err != nil {
						b.Error(r.Err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkRead reads files from the page cache, blocks and records. MB/s are of
// decoded bytes.
func BenchmarkRead(b *testing.B) {
	jsonl := benchLines(32<<20, 3000)
	short := benchLines(32<<20, 100)
	csv := []byte("id,text\n")
	for i, line := range strings.SplitAfter(string(jsonl), "\n") {
		csv = append(csv, fmt.Sprintf("%d,\"%s\"\n", i, strings.NewReplacer(`"`, `""`, "\n", "", `\n`, "\n").Replace(line))...)
	}
	for _, bm := range []struct {
		name string
		f    Format
		c    Compression
		data []byte
	}{
		{"jsonl", JSONL, Plain, jsonl},
		{"jsonl-short", JSONL, Plain, short},
		{"lines", Lines, Plain, jsonl},
		{"csv", CSV, Plain, csv},
		{"jsonl.gz", JSONL, Gzip, jsonl},
		{"jsonl.zst", JSONL, Zstd, jsonl},
		{"jsonl.bz2", JSONL, Bzip2, benchLines(4<<20, 3000)},
	} {
		s := sourceOf(b, "a"+suffix[bm.c], pack(b, bm.c, bm.data, 8))
		s.Format = bm.f
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", bm.name, workers), func(b *testing.B) {
				b.SetBytes(int64(len(bm.data)))
				for b.Loop() {
					readBlocks(b, s, Options{}, workers)
				}
			})
		}
	}
}

// BenchmarkJSONL parses records in memory, beside a general parser that builds
// the object (and checks less).
func BenchmarkJSONL(b *testing.B) {
	for _, textLen := range []int{100, 3000} {
		data := benchLines(4<<20, textLen)
		block := &Block{data: data}
		b.Run(fmt.Sprintf("text=%d/corpus", textLen), func(b *testing.B) {
			p := NewParser(Options{})
			f := &File{src: Source{Format: JSONL}}
			var r Record
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				p.Start(f, block)
				for p.Next(&r) {
					if r.Err != nil {
						b.Fatal(r.Err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("text=%d/fastjson", textLen), func(b *testing.B) {
			var p fastjson.Parser
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for line := range strings.SplitAfterSeq(string(data), "\n") {
					if line == "" {
						break
					}
					v, err := p.Parse(line)
					if err != nil {
						b.Fatal(err)
					}
					v.GetStringBytes("text")
					v.GetStringBytes("id")
				}
			}
		})
	}
}

// BenchmarkSpecial looks for the end of a string without escapes.
func BenchmarkSpecial(b *testing.B) {
	for _, n := range []int{10, 100, 10000} {
		s := []byte(strings.Repeat("x", n) + `"`)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if special(s, 0) != n {
					b.Fatal("wrong place")
				}
			}
		})
	}
}
