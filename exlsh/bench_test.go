package exlsh

import (
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
)

// BenchmarkSketch makes fingerprints of a megabyte of newswire, in text in memory.
func BenchmarkSketch(b *testing.B) {
	texts := shareddata.Texts(b, 1<<20, "reuters21578", "docs.jsonl.zst")
	total := 0
	for _, t := range texts {
		total += len(t)
	}
	for _, mode := range []struct {
		name    string
		options Options
	}{{"word", Word()}, {"char", Char()}} {
		for _, hash := range hashes {
			b.Run(mode.name+"/"+hash.name, func(b *testing.B) {
				o := mode.options
				o.Hash = hash
				s, err := New(o)
				if err != nil {
					b.Fatal(err)
				}
				var dst []byte
				b.SetBytes(int64(total))
				b.ReportAllocs()
				for b.Loop() {
					for _, t := range texts {
						dst, _ = s.AppendSketch(dst[:0], t)
					}
				}
			})
		}
	}
}
