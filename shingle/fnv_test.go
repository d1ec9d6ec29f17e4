package shingle

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/text"
)

var unitHashes = []Hash{FNV1a32, FNV1a64, FNV1a32Listing, FNV1a64Listing}

// naiveUnitFeatures is the naive stage of the article: a list of words, every shingle
// anew.
func naiveUnitFeatures(h Hash, n int, doc []byte) []uint64 {
	words := strings.FieldsFunc(string(doc), func(r rune) bool {
		return r > 0xffff || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var features []uint64
	for i := 0; i+n <= len(words); i++ {
		var b []byte
		for _, u := range utf16.Encode([]rune(strings.Join(words[i:i+n], ""))) {
			high := byte(u >> 8)
			if h == FNV1a32Listing || h == FNV1a64Listing {
				high = 0
			}
			b = append(b, byte(u), high)
		}
		if h == FNV1a32 || h == FNV1a32Listing {
			f := fnv.New32a()
			f.Write(b)
			features = append(features, uint64(f.Sum32()))
		} else {
			f := fnv.New64a()
			f.Write(b)
			features = append(features, f.Sum64())
		}
	}
	return features
}

func TestUnitHashesEqualTheNaiveStage(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b ", "the ", "Cat ", "x1_y2-", ". ", "ü", "中 ", "文。", "язык ", "é", "٣", "½", "²", " \xff", "\xed\xa0\x80", "𝐀 ", "\u0301",
		strings.Repeat("ab c ", 30), strings.Repeat("x", 70), strings.Repeat("y", 2100), strings.Repeat("слово и ", 20), strings.Repeat("q ", 1100),
	})
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(unitHashes).Draw(t, "hash")
		n := rapid.OneOf(rapid.Just(3), rapid.IntRange(1, 12)).Draw(t, "n")
		s := mustNew(t, Options{N: n, Hash: h})
		for range 3 {
			doc := []byte(strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "doc"), ""))
			if got, want := s.AppendFeatures(nil, doc), naiveUnitFeatures(h, n, doc); !slices.Equal(got, want) {
				t.Fatalf("%s n=%d, %q: %d features, want %d; or they differ", h, n, doc, len(got), len(want))
			}
		}
	})
}

// Those of 32 bits were made by the article's program, and by it with the upper byte
// hashed.
func TestUnitHashesArePinned(t *testing.T) {
	doc := []byte("The cat sat: кот сел. 猫 2")
	for _, c := range []struct {
		hash Hash
		want string
	}{
		{FNV1a32, "[39030c2 4f242277 5609875a 89cd1b9e f25952ec]"},
		{FNV1a32Listing, "[471bf5cf 72a4679a c3bcd78b dbf8ea4b f25952ec]"},
		{FNV1a64, "[15a9b334d3f9db5e b50f45b266ec0d4c dc18ddc81716c497 f2c71f823cf37de2 f5c69342afcf02da]"},
		{FNV1a64Listing, "[288a9d7fc68a8af f03c93a5090532b 31fa31aa0aeab46b 746ea7797c5c96ba b50f45b266ec0d4c]"},
	} {
		features := mustNew(t, Options{N: 3, Hash: c.hash}).AppendFeatures(nil, doc)
		slices.Sort(features)
		if got := fmt.Sprintf("%x", features); got != c.want {
			t.Errorf("%s: %s, want %s", c.hash, got, c.want)
		}
	}
}

func TestAHashWithWordsOfItsOwnTakesNoOtherOptions(t *testing.T) {
	for _, o := range []Options{
		{Hash: "md5"},
		{Hash: FNV1a32, Repetitions: true},
		{Hash: FNV1a32, Multiset: true},
		{Hash: FNV1, Text: text.Options{Tokens: text.ASCII}, Multiset: true},
		{Hash: FNV1a32, Text: text.Options{NoFold: true}},
		{Hash: FNV1a64, Text: text.Options{Tokens: text.Chars}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestALineWithAHashParsesBack(t *testing.T) {
	for _, h := range unitHashes {
		o := Options{Hash: h, N: 3}
		back, err := ParseOptions(o.String())
		if err != nil || back.String() != o.String() || back.Hash != h {
			t.Errorf("%s parses to %v, %v", o, back, err)
		}
	}
	for _, line := range []string{"utf16/v1 n=3", "utf16/v1 hash=md5", "utf16/v1 hash=fnv1a32 nofold"} {
		if o, err := ParseOptions(line); err == nil {
			t.Errorf("%q parses to %v", line, o)
		}
	}
}

func TestUnitHashesDoNotAllocateOnceWarm(t *testing.T) {
	s := mustNew(t, Options{N: 3, Hash: FNV1a32})
	doc := []byte(strings.Repeat("one two три ", 1000))
	dst := s.AppendFeatures(nil, doc)
	if n := testing.AllocsPerRun(10, func() { dst = s.AppendFeatures(dst[:0], doc) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkUnitHashes(b *testing.B) {
	texts := shareddata.Texts(b, benchBytes, "wiki_long_en", "docs.jsonl.zst")
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	for _, h := range unitHashes[:2] {
		for _, n := range []int{3, 5} {
			b.Run(fmt.Sprintf("%s/n=%d", h, n), func(b *testing.B) {
				s := mustNew(b, Options{N: n, Hash: h})
				var dst []uint64
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, text := range texts {
						dst = s.AppendFeatures(dst[:0], text)
					}
				}
			})
		}
	}
}
