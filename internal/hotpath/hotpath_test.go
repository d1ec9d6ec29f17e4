// Package hotpath measures the way from a text in memory to its signature, stage
// by stage. It has nothing but benchmarks: the stages are tested where they are.
package hotpath

import (
	"bytes"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// BenchmarkTextToSignature goes through 8 MB of long English articles, one after
// the other. Each row does one stage more than the row before; ns/B of a stage
// is the difference between two rows.
//
// With pieces the articles are cut, as short documents cost more a byte.
func BenchmarkTextToSignature(b *testing.B) {
	for _, corpus := range []struct {
		name  string
		ascii bool
		piece int // bytes of a document, 0 for whole articles
	}{
		{"ASCII", true, 0},
		{"as it is", false, 0},
		{"ASCII in pieces of 2000 bytes", true, 2000},
		{"ASCII in pieces of 200 bytes", true, 200},
	} {
		docs := articles(b, corpus.ascii, corpus.piece)
		for _, stage := range []struct {
			name string
			f    func(doc []byte)
		}{
			{"tokens", tokens(b)},
			{"tokens, shingles", shingles(b)},
			{"tokens, shingles, sketch", sketches(b)},
		} {
			b.Run(corpus.name+"/"+stage.name, func(b *testing.B) {
				size := 0
				for _, d := range docs {
					size += len(d)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, d := range docs {
						stage.f(d)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/B")
			})
		}
	}
}

func tokens(b *testing.B) func([]byte) {
	t, err := text.New(text.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var hashes []uint64
	// A block at a time, as package shingle has them.
	return func(doc []byte) {
		for from := 0; from < len(doc); {
			hashes, from = t.AppendHashesFrom(hashes[:0], doc, from)
		}
	}
}

func shingles(b *testing.B) func([]byte) {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var features []uint64
	return func(doc []byte) { features = s.AppendFeatures(features[:0], doc) }
}

func sketches(b *testing.B) func([]byte) {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		b.Fatal(err)
	}
	scheme := minhash.Default()
	sketcher := scheme.NewSketcher()
	signature := make([]uint32, scheme.K())
	var features []uint64
	return func(doc []byte) {
		features = s.AppendFeatures(features[:0], doc)
		sketcher.Sketch(signature, features)
	}
}

// articles returns about 8 MB of documents.
func articles(b *testing.B, ascii bool, piece int) [][]byte {
	var docs [][]byte
	for _, text := range shareddata.Texts(b, 8<<20, "wiki_long_en", "docs.jsonl.zst") {
		if ascii {
			text = bytes.Map(func(r rune) rune {
				if r >= 0x80 {
					return ' '
				}
				return r
			}, text)
		}
		for piece > 0 && len(text) > piece {
			docs = append(docs, text[:piece:piece])
			text = text[piece:]
		}
		docs = append(docs, text)
	}
	return docs
}
