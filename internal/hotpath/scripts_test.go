package hotpath

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// A script is a name and where texts in it are: articles in one language, or the
// Declaration of Human Rights in several that are written alike.
type script struct {
	name string
	wiki string   // a file of wiki_multilingual, without its ending
	udhr []string // ids of documents
}

var scripts = []script{
	{name: "English", wiki: "en"},
	{name: "German", wiki: "de"},
	{name: "Vietnamese", wiki: "vi"},
	{name: "Korean", wiki: "ko"},
	{name: "Chinese", wiki: "zh"},
	{name: "Japanese", wiki: "ja"},
	{name: "Russian", udhr: []string{"rus", "ukr", "bel", "bul", "mkd", "srp_cyrl", "bos_cyrl", "kaz", "kir", "tat"}},
	{name: "Arabic", udhr: []string{"arb", "pbu", "pnb", "skr", "urd", "uig_arab", "mly_arab"}},
	{name: "Hindi", udhr: []string{"bho", "hin", "mag", "mai", "mar", "nep", "san", "taj"}},
	{name: "Persian", udhr: []string{"pes_1", "pes_2"}},
	{name: "Hebrew", wiki: "he"},
	{name: "Greek", udhr: []string{"ell_monotonic", "ell_polytonic"}},
	{name: "Georgian", udhr: []string{"kat"}},
	{name: "Armenian", udhr: []string{"hye"}},
	{name: "Bengali", udhr: []string{"ben"}},
	{name: "Tamil", udhr: []string{"tam"}},
	{name: "Malayalam", udhr: []string{"mal"}},
	{name: "Ethiopic", udhr: []string{"amh", "tir"}},
	{name: "Thai", udhr: []string{"tha"}},
	{name: "Khmer", udhr: []string{"khm"}},
	{name: "Burmese", udhr: []string{"mya"}},
	{name: "Tibetan", udhr: []string{"bod", "dzo"}},
	{name: "Yoruba", udhr: []string{"yor"}},
}

func (s script) texts(b *testing.B) [][]byte {
	if s.wiki != "" {
		return shareddata.Texts(b, 4<<20, "wiki_multilingual", s.wiki+".jsonl.zst")
	}
	var texts [][]byte
	for _, d := range shareddata.Docs(b, 0, "udhr", "docs.jsonl.zst") {
		if slices.Contains(s.udhr, d.ID) {
			texts = append(texts, []byte(d.Text))
		}
	}
	return texts
}

// BenchmarkScripts is the whole way, from text to signature, for every script and every
// way of cutting it. MB/core-s is megabytes a second of processor time.
func BenchmarkScripts(b *testing.B) {
	for _, cut := range []struct {
		name    string
		options shingle.Options
	}{
		{"words", shingle.Options{}},
		{"repetitions", shingle.Options{Repetitions: true}},
		{"alnum", shingle.Options{Text: text.Options{Tokens: text.Alnum}}},
		{"space", shingle.Options{Text: text.Options{Tokens: text.Space}}},
		{"uax29", shingle.Options{Text: text.Options{Tokens: text.UAX29}}},
		{"chars", shingle.Options{Text: text.Options{Tokens: text.Chars}}},
	} {
		for _, s := range scripts {
			b.Run(cut.name+"/"+s.name, func(b *testing.B) {
				texts := s.texts(b)
				shingler, err := shingle.New(cut.options)
				if err != nil {
					b.Fatal(err)
				}
				benchSignatures(b, shingler, texts)
			})
		}
	}
}

func benchSignatures(b *testing.B, shingler *shingle.Shingler, texts [][]byte) {
	scheme := minhash.Default()
	sketcher := scheme.NewSketcher()
	signature := make([]uint32, scheme.K())
	var features []uint64
	all := func() (size int) {
		for _, t := range texts {
			features = shingler.AppendFeatures(features[:0], t)
			sketcher.Sketch(signature, features)
			size += len(t)
		}
		return size
	}
	all() // makes tables
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	size, before := 0, processorTime()
	for b.Loop() {
		size += all()
	}
	b.ReportMetric(float64(size)/1e6/(processorTime()-before).Seconds(), "MB/core-s")
}

// BenchmarkHashes goes from English text, without its other bytes and with them, to
// features by other hashes, in megabytes a second of processor time.
func BenchmarkHashes(b *testing.B) {
	for _, ascii := range []bool{true, false} {
		docs := articles(b, ascii, 0)
		for _, hash := range []shingle.Hash{shingle.FNV1a32, shingle.FNV1a64} {
			b.Run(fmt.Sprintf("%s/ASCII=%v", hash, ascii), func(b *testing.B) {
				shingler, err := shingle.New(shingle.Options{Hash: hash, N: 3})
				if err != nil {
					b.Fatal(err)
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				var features []uint64
				size, before := 0, processorTime()
				for b.Loop() {
					for _, d := range docs {
						features = shingler.AppendFeatures(features[:0], d)
						size += len(d)
					}
				}
				b.ReportMetric(float64(size)/1e6/(processorTime()-before).Seconds(), "MB/core-s")
			})
		}
	}
}

// BenchmarkSmallSets makes signatures of sets of few features, 128 components each, in
// nanoseconds of processor time a set.
func BenchmarkSmallSets(b *testing.B) {
	for _, n := range []int{1, 3, 7, 12, 20, 50, 100, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			features := make([]uint64, 1<<16)
			for i := range features {
				features[i] = rng.Uint64()
			}
			scheme := minhash.Default()
			sketcher := scheme.NewSketcher()
			signature := make([]uint32, scheme.K())
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			sets, before := 0, processorTime()
			for b.Loop() {
				for at := 0; at+n <= len(features); at += n {
					sketcher.Sketch(signature, features[at:at+n])
					sets++
				}
			}
			b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(sets), "core-ns/set")
		})
	}
}
