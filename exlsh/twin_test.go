package exlsh

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/text"
)

// slowSketch is ExLSH as its authors write it: lists of tokens, a number a bit.
func slowSketch(o Options, doc []byte) []byte {
	o = o.withDefaults()
	tokens := o.Tokenizer.apply(nil, o.Normalizer.apply(nil, doc))
	if o.Filter.apply != nil {
		tokens = o.Filter.apply(tokens)
	}
	sum := o.Hash.newSums()
	votes := make([]int, 8*o.Hash.size)
	for i := 0; i+o.N <= len(tokens); i++ {
		shingle := bytes.Join(tokens[i:i+o.N], nil)
		row := make([]uint64, (o.Hash.size+7)/8)
		sum(row, len(row), shingle, []int{0}, []int{len(shingle)})
		for bit := range votes {
			if row[bit/64]>>(bit/8%8*8+7-bit%8)&1 == 1 {
				votes[bit]++
			} else {
				votes[bit]--
			}
		}
	}
	out := make([]byte, o.Hash.size)
	for bit, v := range votes {
		if v > 0 {
			out[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	return out
}

// slowNormal is WordCharacters in one pass over the whole text a step.
func slowNormal(doc []byte) []byte {
	var lower []byte
	for s := norm.NFC.Bytes(doc); len(s) > 0; {
		r, width := utf8.DecodeRune(s)
		if r == utf8.RuneError && width == 1 {
			lower = append(lower, s[0])
		} else {
			lower = append(lower, strings.ToLowerSpecial(unicode.SpecialCase{}, string(r))...)
		}
		s = s[width:]
	}
	lower = bytes.ReplaceAll(lower, []byte("İ"), []byte("i\u0307"))
	var out []byte
	for _, b := range lower {
		isWord := b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' ||
			b == 0xaa || b == 0xb5 || b == 0xba || b >= 0xc0 && b != 0xd7 && b != 0xf7
		switch {
		case isWord:
			out = append(out, b)
		case len(out) == 0 || out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
	}
	return out
}

// anyText draws texts of words, marks, letters of many scripts and stray bytes.
func anyText(t *rapid.T) []byte {
	pieces := []string{
		"a", "B", "word", "The", " ", "  ", "\n", "-", "_", "9", "é", "e\u0301", "ß", "ΣΊΣΥΦΟΣ", "Привет", "日本語", "ê", "한국",
		"\u032a", "\u05b5", "\u1aba", "\u0300\u0327", "\xaa", "\xb5", "\xc3", "\xf0", "\xff", "\u2aaa", "\U0002aaaa",
		"👨‍👩‍👧", "ǅ", "ﬁ", "Å", "\u212b", "\u00a0", "Ⱥ", "ª", "µ", "½", "\x00", "“quoted”",
	}
	var b []byte
	for range rapid.IntRange(0, 40).Draw(t, "pieces") {
		b = append(b, rapid.SampledFrom(pieces).Draw(t, "piece")...)
	}
	return b
}

// anyOptions draws a preset's tokens with any hash function and width.
func anyOptions(t *rapid.T) Options {
	return Options{
		Tokenizer: []Tokenizer{Words, Graphemes}[rapid.IntRange(0, 1).Draw(t, "tokens")],
		N:         rapid.IntRange(1, 5).Draw(t, "n"),
		Hash:      hashes[rapid.IntRange(0, len(hashes)-1).Draw(t, "hash")],
	}
}

func TestFingerprintsEqualThoseOfTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // with scratch memory in use
			doc := anyText(t)
			if got, _ := s.AppendSketch(nil, doc); !bytes.Equal(got, slowSketch(o, doc)) {
				t.Fatalf("%s of %q: %x, want %x", o, doc, got, slowSketch(o, doc))
			}
		}
	})
}

func TestFingerprintsOfLongTextsEqualThoseOfTheSlowTwin(t *testing.T) {
	doc := []byte(strings.Repeat("In the beginning was the word, 42 times: né à Łódź. ", 300))
	for i := range doc {
		if i%97 == 0 && doc[i] < utf8.RuneSelf {
			doc[i] = byte('a' + i%26)
		}
	}
	for _, o := range []Options{Word(), Char(), {N: 1, Hash: XXH3}, {N: 40, Hash: SHA512}, {Tokenizer: Graphemes, N: 9, Hash: CRC32}} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if got, n := s.AppendSketch(nil, doc); !bytes.Equal(got, slowSketch(o, doc)) || n < 3*blockShingles {
			t.Errorf("%s: %x of %d shingles, want %x", o, got, n, slowSketch(o, doc))
		}
	}
}

func TestNormalFormsEqualThoseOfTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := anyText(t)
		if got, want := appendWordCharacters([]byte("x "), doc), slowNormal(doc); !bytes.Equal(got[2:], want) {
			t.Fatalf("%q becomes %q, want %q", doc, got[2:], want)
		}
	})
}

func TestFingerprintsAreThoseThatTheOriginalHasMade(t *testing.T) {
	f, err := os.Open("testdata/original.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c goldenCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if got := sketch(t, preset(t, c.Mode, c.N, c.Hash), c.Text); got != c.Base64 {
			t.Errorf("%s, n = %d, %s of %q is %s, want %s", c.Mode, c.N, c.Hash, c.Text, got, c.Base64)
		}
	}
	if n != 120 {
		t.Errorf("%d cases", n)
	}
}

func TestEveryStepCanBeReplaced(t *testing.T) {
	reverse := NewTokenizer("reversed-words", func(dst [][]byte, normalized []byte) [][]byte {
		dst = Words.apply(dst, normalized)
		slices.Reverse(dst)
		return dst
	})
	length := NewHash("length", 1, func(dst, shingle []byte) []byte { return append(dst, byte(len(shingle))) })
	upper := NewNormalizer("upper", func(dst, doc []byte) []byte { return append(dst, bytes.ToUpper(doc)...) })
	long := Keep("long", func(token []byte) bool { return len(token) > 2 })
	o := Options{upper, reverse, long, 2, length}
	if got, want := o.String(), "exlsh/v1 normalize=upper tokens=reversed-words filter=long n=2 hash=length"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	// one+fifteen, fifteen+three, three+two: 10, 12 and 8 bytes.
	if got, n := s.AppendSketch(nil, []byte("two of three fifteen a one")); n != 3 || !bytes.Equal(got, []byte{8}) {
		t.Errorf("%b of %d shingles", got, n)
	}
	if string(s.text) != "ONEFIFTEENTHREETWO" {
		t.Errorf("tokens %s", s.text)
	}
}

func TestStepsOfPackageTextCanBeTaken(t *testing.T) {
	n, err := NormalizeText(text.Options{StripDiacritics: true})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := TokenizeText(text.Options{Tokens: text.Alnum})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{n, tokens, Without(n, []string{"Thé", "of the"}, 2), 1, XXH3})
	if err != nil {
		t.Fatal(err)
	}
	s.tokenize([]byte("THE Ång\u00adström, x of the\xff Straße: 日本語!"))
	if got := string(s.text); got != "angstromstrasse日本語" || len(s.bounds) != 4 {
		t.Errorf("%q, %d bounds", got, len(s.bounds))
	}
	if _, err := NormalizeText(text.Options{Normalize: "nfd"}); err == nil {
		t.Error("nfd is a normalisation")
	}
	if _, err := TokenizeText(text.Options{Tokens: "lines"}); err == nil {
		t.Error("lines are tokens")
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	sum := func(dst, _ []byte) []byte { return dst }
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{N: -1}, "-1 tokens a shingle: take 1 to"},
		{Options{Hash: NewHash("none", 0, sum)}, "0 bytes of the hash function: take 1 to"},
		{Options{Hash: NewHash("two words", 4, sum)}, "a hash function needs a name without spaces"},
		{Options{Tokenizer: NewTokenizer("none", nil)}, `the tokeniser "none" has no function`},
		{Options{Filter: Keep("", func([]byte) bool { return true })}, "a filter needs a name"},
	} {
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := ParseHash("md6"); err == nil || !strings.Contains(err.Error(), "use one of md5, sha1, sha256, sha512, ripemd160, crc32, xxh3") {
		t.Error(err)
	}
}

func TestSketchingAllocatesNothingOnceWarm(t *testing.T) {
	doc := []byte(strings.Repeat("In the beginning was the word, né à Łódź. ", 100))
	for _, tokenizer := range []Tokenizer{Words, Graphemes} {
		for _, h := range hashes {
			s, err := New(Options{Tokenizer: tokenizer, Hash: h})
			if err != nil {
				t.Fatal(err)
			}
			dst, _ := s.AppendSketch(nil, doc)
			if n := testing.AllocsPerRun(5, func() { dst, _ = s.AppendSketch(dst[:0], doc) }); n > 0 {
				t.Errorf("%s: %v allocations", s.options, n)
			}
		}
	}
}

func FuzzSketch(f *testing.F) {
	f.Add([]byte("Lorem ipsum dolor sit amet"), uint8(3))
	f.Add([]byte("e\u0301 \xcc\xaa \u0eba\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, doc []byte, n uint8) {
		for _, tokenizer := range []Tokenizer{Words, Graphemes} {
			o := Options{Tokenizer: tokenizer, N: int(n%8) + 1, Hash: XXH3}
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := s.AppendSketch(nil, doc); !bytes.Equal(got, slowSketch(o, doc)) {
				t.Errorf("%s of %q is %s", o, doc, base64.StdEncoding.EncodeToString(got))
			}
			if want := slowNormal(doc); utf8.Valid(doc) && !bytes.Equal(s.options.Normalizer.apply(nil, doc), want) {
				t.Errorf("%q becomes %q, want %q", doc, s.options.Normalizer.apply(nil, doc), want)
			}
		}
	})
}
