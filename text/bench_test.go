package text

import (
	"bytes"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
)

// benchBytes is about how much text a benchmark goes through.
const benchBytes = 4 << 20

// corpora are the texts that the benchmarks run on.
var corpora = []struct {
	name string
	path []string
}{
	{"ascii", []string{"wiki_long_en", "docs.jsonl.zst"}}, // without its other bytes
	{"long_en", []string{"wiki_long_en", "docs.jsonl.zst"}},
	{"en", []string{"wiki_multilingual", "en.jsonl.zst"}},
	{"de", []string{"wiki_multilingual", "de.jsonl.zst"}},
	{"vi", []string{"wiki_multilingual", "vi.jsonl.zst"}},
	{"ja", []string{"wiki_multilingual", "ja.jsonl.zst"}},
	{"zh", []string{"wiki_multilingual", "zh.jsonl.zst"}},
	{"ko", []string{"wiki_multilingual", "ko.jsonl.zst"}},
	{"he", []string{"wiki_multilingual", "he.jsonl.zst"}},
}

func eachCorpus(b *testing.B, run func(b *testing.B, texts [][]byte)) {
	for _, c := range corpora {
		b.Run(c.name, func(b *testing.B) {
			texts := shareddata.Texts(b, benchBytes, c.path...)
			if c.name == "ascii" {
				for i, text := range texts {
					texts[i] = bytes.Map(func(r rune) rune {
						if r >= 0x80 {
							return -1
						}
						return r
					}, text)
				}
			}
			run(b, texts)
		})
	}
}

func benchHashes(b *testing.B, o Options, texts [][]byte) {
	tok := mustNew(b, o)
	size := 0
	var hashes []uint64
	for _, text := range texts {
		size += len(text)
		hashes = tok.AppendHashes(hashes[:0], text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			hashes = tok.AppendHashes(hashes[:0], text)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	eachCorpus(b, func(b *testing.B, texts [][]byte) { benchHashes(b, Options{}, texts) })
}

func BenchmarkTokenizers(b *testing.B) {
	texts := shareddata.Texts(b, benchBytes, "wiki_multilingual", "en.jsonl.zst")
	for _, o := range []Options{
		{Tokens: Alnum},
		{Tokens: Space},
		{Tokens: Chars},
		{Tokens: UAX29},
		{Tokens: Graphemes},
		{StopWords: []string{"the", "and", "of"}},
		{MinLength: 3},
		{StripDiacritics: true},
		{Normalize: None, NoFold: true},
	} {
		b.Run(o.String(), func(b *testing.B) { benchHashes(b, o, texts) })
	}
}

func BenchmarkAppendTokens(b *testing.B) {
	texts := shareddata.Texts(b, benchBytes, "wiki_multilingual", "en.jsonl.zst")
	tok := mustNew(b, Options{})
	var tokens []Token
	size := 0
	for _, text := range texts {
		size += len(text)
		tokens = tok.AppendTokens(tokens[:0], text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			tokens = tok.AppendTokens(tokens[:0], text)
		}
	}
}

// What it costs to describe the code points of a language, once per process.
func BenchmarkMakePage(b *testing.B) {
	o := Options{}.withDefaults()
	t := newTable(o, o.Tokens)
	for b.Loop() {
		t.pages[0x4e].Store(nil)
		t.makePage(0x4e)
	}
}
