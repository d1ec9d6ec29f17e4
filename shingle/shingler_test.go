package shingle

import (
	"bytes"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/text"
)

// twinFeatures is the definition: every shingle anew, from its tokens.
func twinFeatures(o Options, doc []byte) []uint64 {
	tokenizer, err := text.New(o.Text)
	if err != nil {
		panic(err)
	}
	if o.Hash == FNV1 {
		return twinFNV1(o, doc)
	}
	tokens := tokenizer.AppendHashes(nil, doc)
	if o.Repetitions {
		twinNumber(tokens)
	}
	n := o.withDefaults().N
	if len(tokens) < n {
		n = len(tokens)
	}
	if n == 0 {
		return nil
	}
	var features []uint64
	for i := range len(tokens) - n + 1 {
		var h, power uint64 = 0, 1
		for _, t := range slices.Backward(tokens[i : i+n]) {
			h += t * power
			power *= 0xbb67ae8584caa73b
		}
		hi, lo := bits.Mul64(h^hashing.Key2, hashing.Key3^uint64(n))
		features = append(features, hi^lo)
	}
	if o.Multiset {
		twinNumber(features)
	}
	return features
}

// twinNumber makes the j-th occurrence of a hash another hash.
func twinNumber(hashes []uint64) {
	count := map[uint64]uint64{}
	for i, h := range hashes {
		if count[h]++; count[h] > 1 {
			hashes[i] = hashing.Fold(h^hashing.Key3, hashing.Key2^count[h])
		}
	}
}

// twinFNV1 is the definition of the hash FNV1.
func twinFNV1(o Options, doc []byte) []uint64 {
	var characters []byte
	for _, c := range string(doc) {
		if c < 0x80 && !unicode.IsSpace(c) {
			if !o.Text.NoFold {
				c = unicode.ToLower(c)
			}
			characters = append(characters, byte(c))
		}
	}
	n := min(o.withDefaults().N, len(characters))
	var features []uint64
	for i := 0; n > 0 && i+n <= len(characters); i++ {
		h := fnv.New64()
		_, _ = h.Write(characters[i : i+n])
		features = append(features, h.Sum64())
	}
	return features
}

func mustNew(t interface{ Fatal(...any) }, o Options) *Shingler {
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShinglerEqualsTheTwin(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b ", "the ", "cat ", "Cat ", ". ", "ü", "中", "文。", "か\u3099", " \xff", strings.Repeat("ab c ", 50), strings.Repeat("x", 70),
	})
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Text:        text.Options{Tokens: rapid.SampledFrom([]text.Tokens{text.Words, text.Chars, text.UAX29, text.ASCII}).Draw(t, "tokens")},
			N:           rapid.OneOf(rapid.IntRange(0, 8), rapid.IntRange(9, 300)).Draw(t, "n"),
			Repetitions: rapid.Bool().Draw(t, "reps"),
			Multiset:    rapid.Bool().Draw(t, "multiset"),
		}
		if o.Text.Tokens == text.ASCII && !o.Repetitions && !o.Multiset && rapid.Bool().Draw(t, "FNV-1") {
			o.Hash = FNV1
		}
		s := mustNew(t, o)
		for range 4 {
			doc := []byte(strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "doc"), ""))
			if got, want := s.AppendFeatures(nil, doc), twinFeatures(s.Options(), doc); !slices.Equal(got, want) {
				t.Fatalf("%v: %d features of %q, want %d; or they differ", s.Options(), len(got), doc, len(want))
			}
		}
	})
}

// Documents of several blocks, so that shingles cross the borders between them.
func TestLongDocumentsEqualTheTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("a an the of it is Wort Wörter 中文字 язык internationalisation 1234 ﬁn don’t x y z")
	var doc []byte
	for len(doc) < 20_000 {
		doc = append(append(doc, words[r.IntN(len(words))]...), " ,\n"[r.IntN(3)])
	}
	for _, o := range []Options{
		{},
		{N: 1},
		{N: 1500},
		{N: 100_000},
		{Repetitions: true, N: 2},
		{Multiset: true, N: 2},
		{Text: text.Options{Tokens: text.Chars}, N: 54},
		{Text: text.Options{Tokens: text.ASCII}, N: 54},
		{Text: text.Options{Tokens: text.ASCII}, N: 54, Hash: FNV1},
		{Text: text.Options{Tokens: text.ASCII, NoFold: true}, N: 1500, Hash: FNV1},
		{Text: text.Options{Tokens: text.Chars}, N: 4500, Repetitions: true},
		{Text: text.Options{Tokens: text.Space, StopWords: []string{"the", "язык,"}}},
		{Text: text.Options{MinLength: 3}, N: 3},
	} {
		s := mustNew(t, o)
		for range 2 {
			if got, want := s.AppendFeatures(nil, doc), twinFeatures(o, doc); !slices.Equal(got, want) {
				t.Errorf("%v: %d features, want %d; or they differ", o, len(got), len(want))
			}
		}
	}
}

func TestNumberOfFeatures(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		doc  string
		want int
	}{
		{"an empty document has none", 3, "", 0},
		{"a document without tokens has none", 3, " ... \xff", 0},
		{"a document of fewer than n tokens has one", 3, "two tokens", 1},
		{"a document of n tokens has one", 3, "one two three", 1},
		{"every token more is one more", 3, "one two three four five", 3},
		{"shingles of one token are the tokens", 1, "one two one", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := mustNew(t, Options{N: test.n}).AppendFeatures(nil, []byte(test.doc)); len(got) != test.want {
				t.Errorf("%d features, want %d", len(got), test.want)
			}
		})
	}
}

func TestAShortDocumentIsNotAPartOfALongerOne(t *testing.T) {
	s := mustNew(t, Options{N: 3})
	short := s.AppendFeatures(nil, []byte("near duplicate"))
	two := mustNew(t, Options{N: 2}).AppendFeatures(nil, []byte("near duplicate"))
	long := s.AppendFeatures(nil, []byte("a near duplicate is a near duplicate"))
	if slices.Contains(long, short[0]) {
		t.Errorf("the only shingle of a short document is among those of a longer one")
	}
	if !slices.Equal(short, two) {
		t.Errorf("a document of two tokens differs between n = 3 and n = 2")
	}
}

func TestRepetitionsTellHowOften(t *testing.T) {
	once, twice := []byte("tick tock"), []byte("tick tock tick tock")
	for _, reps := range []bool{false, true} {
		s := mustNew(t, Options{N: 1, Repetitions: reps})
		a, b := Set(s.AppendFeatures(nil, once)), Set(s.AppendFeatures(nil, twice))
		if slices.Equal(a, b) == reps {
			t.Errorf("repetitions %t: %d and %d features", reps, len(a), len(b))
		}
	}
}

// Sets of multisets have in common and together what the counts of the features say.
func TestMultisetsHaveTheWeightedJaccardOfTheCounts(t *testing.T) {
	word := rapid.SampledFrom([]string{"a ", "b ", "c "})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "n")
		plain, counted := mustNew(t, Options{N: n}), mustNew(t, Options{N: n, Multiset: true})
		var counts [2]map[uint64]uint64
		var sets [2][]uint64
		for i := range sets {
			doc := []byte(strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "doc"), ""))
			counts[i] = map[uint64]uint64{}
			for _, f := range plain.AppendFeatures(nil, doc) {
				counts[i][f]++
			}
			sets[i] = Set(counted.AppendFeatures(nil, doc))
		}
		least, most := uint64(0), uint64(0)
		for f, v := range counts[0] {
			least, most = least+min(v, counts[1][f]), most+max(v, counts[1][f])
		}
		for f, w := range counts[1] {
			if counts[0][f] == 0 {
				most += w
			}
		}
		both := Set(slices.Concat(sets[0], sets[1]))
		inter := len(sets[0]) + len(sets[1]) - len(both)
		if uint64(inter) != least || uint64(len(both)) != most {
			t.Errorf("%d of %d, want %d of %d", inter, len(both), least, most)
		}
	})
}

// The values are part of the format; they must never change.
func TestFeaturesArePinned(t *testing.T) {
	doc := []byte("The quick brown fox jumps over the lazy Straße.")
	for _, test := range []struct {
		o    Options
		want uint64 // all features, added up with their positions
	}{
		{Options{}, 0x34433834a72ab9c1},
		{Options{N: 2, Repetitions: true}, 0x939f6708880dabd4},
		{Options{N: 100}, 0x1a327810b251934d},
		{Options{N: 1, Multiset: true}, 0xdbc25c50dfba32fe},
		{Options{N: 7, Text: text.Options{Tokens: text.Chars}}, 0x904ae1bb5e8f29f1},
		{Options{N: 7, Text: text.Options{Tokens: text.ASCII}}, 0x2a8d0779a40177cb},
		{Options{N: 7, Text: text.Options{Tokens: text.ASCII}, Hash: FNV1}, 0xd1fd78a6dcc4ac38},
	} {
		var got uint64
		for i, f := range mustNew(t, test.o).AppendFeatures(nil, doc) {
			got += f * uint64(2*i+1)
		}
		if got != test.want {
			t.Errorf("%v: %#x, want %#x", test.o, got, test.want)
		}
	}
}

func TestNothingIsAllocatedPerDocumentWhenWarm(t *testing.T) {
	docs := [][]byte{
		[]byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 300)),
		[]byte(strings.Repeat("Überall auf der Welt, die schöne Straße. 日本語の文章です。é e\u0301 한국어 ½ ﬁ ", 100)),
		bytes.Repeat([]byte("x"), 10_000),
		[]byte("short"),
		nil,
	}
	for _, o := range []Options{
		{},
		{N: 500},
		{Repetitions: true},
		{Multiset: true},
		{N: 54, Text: text.Options{Tokens: text.Chars}},
		{N: 54, Text: text.Options{Tokens: text.ASCII}, Hash: FNV1},
		{Text: text.Options{StopWords: []string{"the"}}},
	} {
		s := mustNew(t, o)
		var features []uint64
		run := func() {
			for _, doc := range docs {
				features = s.AppendFeatures(features[:0], doc)
			}
		}
		run()
		if allocs := testing.AllocsPerRun(10, run); allocs > 0 {
			t.Errorf("%v: %v allocations", o, allocs)
		}
	}
}

func TestCounterForgetsWhenRoundsWrapAround(t *testing.T) {
	c := newCounter()
	c.reset()
	c.number([]uint64{1, 2, 1})
	c.round = 1<<32 - 1
	c.reset()
	tokens := []uint64{1, 2}
	c.number(tokens)
	if !slices.Equal(tokens, []uint64{1, 2}) {
		t.Errorf("tokens of another document are counted: %x", tokens)
	}
}
