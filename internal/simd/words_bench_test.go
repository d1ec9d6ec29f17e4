package simd

import (
	"bytes"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
)

// englishText returns a few megabytes of long English articles, every byte above
// 0x7f replaced by a space.
func englishText(tb testing.TB) []byte {
	text := realText(tb)
	for i, c := range text {
		if c >= 0x80 {
			text[i] = ' '
		}
	}
	return text
}

func realText(tb testing.TB) []byte {
	return bytes.Join(shareddata.Texts(tb, 8<<20, "wiki_long_en", "docs.jsonl.zst"), nil)
}

// BenchmarkWords counts whole documents: each call gets a text of 40 kB where it
// says nothing else.
func BenchmarkWords(b *testing.B) {
	const size = 40_000
	english := englishText(b)
	rows := []struct {
		name string
		text []byte
		size int
	}{
		{"English text", english, size},
		{"English text in pieces of 4000 bytes", english, 4000},
		{"English text in pieces of 1000 bytes", english, 1000},
		{"English text in pieces of 100 bytes", english, 100},
		{"English text in pieces of 20 bytes", english, 20},
		{"words of one letter", bytes.Repeat([]byte("a "), size), size},
		{"words of 20 letters", bytes.Repeat([]byte("abcdefghijklmnopqrst "), size/10), size},
		{"one word of 10 kB", bytes.Repeat([]byte("a"), 10_000), 10_000},
		{"separators only", bytes.Repeat([]byte(" "), size), size},
	}
	for _, row := range rows {
		for _, v := range availableWords() {
			b.Run(row.name+"/"+v.String(), func(b *testing.B) {
				dst := make([]uint64, 0, row.size)
				b.SetBytes(int64(row.size))
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					if at += row.size; at+row.size > len(row.text) {
						at = 0
					}
					dst, _ = appendWordHashes(v, dst[:0], row.text[at:at+row.size], true)
				}
			})
		}
	}
}
