package shingle

import (
	"bytes"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/text"
)

// benchBytes is about how much text a benchmark goes through.
const benchBytes = 4 << 20

func asciiOnly(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, text)
}

// BenchmarkFeatures is the whole way from text in memory to features.
func BenchmarkFeatures(b *testing.B) {
	for _, bench := range []struct {
		name  string
		o     Options
		ascii bool
		path  []string
	}{
		{"ascii", Options{}, true, []string{"wiki_long_en", "docs.jsonl.zst"}},
		{"ascii/reps", Options{Repetitions: true}, true, []string{"wiki_long_en", "docs.jsonl.zst"}},
		{"ascii/chars54", Options{N: 54, Text: text.Options{Tokens: text.Chars}}, true, []string{"wiki_long_en", "docs.jsonl.zst"}},
		{"long_en", Options{}, false, []string{"wiki_long_en", "docs.jsonl.zst"}},
		{"en", Options{}, false, []string{"wiki_multilingual", "en.jsonl.zst"}},
		{"de", Options{}, false, []string{"wiki_multilingual", "de.jsonl.zst"}},
		{"vi", Options{}, false, []string{"wiki_multilingual", "vi.jsonl.zst"}},
		{"ja", Options{}, false, []string{"wiki_multilingual", "ja.jsonl.zst"}},
		{"zh", Options{}, false, []string{"wiki_multilingual", "zh.jsonl.zst"}},
		{"ko", Options{}, false, []string{"wiki_multilingual", "ko.jsonl.zst"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			texts := shareddata.Texts(b, benchBytes, bench.path...)
			size := 0
			for i := range texts {
				if bench.ascii {
					texts[i] = asciiOnly(texts[i])
				}
				size += len(texts[i])
			}
			s := mustNew(b, bench.o)
			var features []uint64
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					features = s.AppendFeatures(features[:0], text)
				}
			}
		})
	}
}
