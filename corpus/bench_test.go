package corpus

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/internal/shareddata"
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
	f, err := Open(b.Context(), s, o)
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

// BenchmarkJSONL parses records in memory, made lines and articles of Wikipedia, beside a
// general parser. That one lets control characters and wrong escapes pass; checked, it
// goes over each line first, and then finds what a Parser does.
func BenchmarkJSONL(b *testing.B) {
	articles := func(lang string) []byte {
		data, err := io.ReadAll(shareddata.Open(b, "wiki_multilingual", lang+".jsonl.zst"))
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	for _, bm := range []struct {
		name string
		data []byte
	}{
		{"made/text=100", benchLines(4<<20, 100)},
		{"made/text=3000", benchLines(4<<20, 3000)},
		{"wikipedia/en", articles("en")},
		{"wikipedia/ja", articles("ja")},
	} {
		b.Run(bm.name+"/corpus", func(b *testing.B) {
			p := NewParser(Options{})
			f := &File{kind: JSONL.kind(), src: Source{Format: JSONL}}
			block := &Block{data: bm.data}
			var r Record
			b.SetBytes(int64(len(bm.data)))
			for b.Loop() {
				p.Start(f, block)
				for p.Next(&r) {
					if r.Err != nil {
						b.Fatal(r.Err)
					}
				}
			}
		})
		for _, checked := range []bool{true, false} {
			name := "fastjson"
			if checked {
				name = "fastjson-checked"
			}
			b.Run(bm.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(bm.data)))
				for b.Loop() {
					parseFastjson(b, bm.data, checked)
				}
			})
		}
	}
}

func parseFastjson(b *testing.B, data []byte, checked bool) {
	var p fastjson.Parser
	for line := range bytes.Lines(data) {
		if checked {
			if err := fastjson.ValidateBytes(line); err != nil {
				b.Fatal(err)
			}
		}
		v, err := p.ParseBytes(line)
		if err != nil {
			b.Fatal(err)
		}
		v.GetStringBytes("text")
		v.GetStringBytes("id")
	}
}
