package text

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
)

// oddities are pieces that meet the rules' edges, alone or side by side.
var oddities = []string{
	// ASCII: words, separators, what composes with U+0338, control characters.
	"a", "Z", "the", "Quick", "x1", "0", "42", " ", "  ", "\n", "_", "<", "=", ">", "-", ".", "'", "\x00", "\x7f",
	strings.Repeat("w", 15), strings.Repeat("W", 16), strings.Repeat("v", 17), strings.Repeat("ab ", 12),
	strings.Repeat("k", 63), strings.Repeat("K", 64), strings.Repeat("k", 65), strings.Repeat("Long", 260),
	strings.Repeat(".", 31), strings.Repeat(" ", 32), strings.Repeat("-", 64),
	// Combining marks: composing, not composing, starters, enclosing, joiner, many.
	"\u0301", "\u0300", "\u0323", "\u0316", "\u0338", "\u0307", "\u0345", "\u034f", "\u20dd", "\u0344", "\u0f73", "\ufe0f",
	strings.Repeat("\u0301", 31), strings.Repeat("\u0323\u0301", 20), "e\u0301", "a\u0323\u0302", "q\u0307\u0323",
	// Precomposed, folding, ligatures, compatibility forms.
	"é", "Ü", "ß", "ẞ", "ſ", "ŉ", "ǰ", "ΐ", "İ", "ı", "I\u0307", "ς", "Σ", "ﬁ", "ﬃ", "ﬓ", "Ａ", "ｚ", "１", "，", "（", "½", "²", "Ⅷ", "ⓐ", "K", "Å",
	"ế", "Ǆ", "\u00a8", "\u0385", "\u037a", "\ufdfa", "№", "㍿", "\u1e9a", "\u0149", "\u0390", "\u1f80", "\u1ffc", "ꭰ", "Ꭰ",
	// Hangul, composed and in jamo.
	"한", "가", "각", "\u1100", "\u1161", "\u11a8", "\u1100\u1161", "ㄱ", "ﾡ", "\u302e",
	// Scripts with one token a code point, and what joins them.
	"中", "文", "々", "〇", "⼀", "⺟", "か", "か\u3099", "ガ", "ｶ", "ﾞ", "ｶﾞ", "ー", "ｰ", "\u3099", "゛", "・", "。", "𠀀", "\u302a", "﨑", "\ufa10",
	"ก", "ำ", "ุ", "่", "ุ่", "๑", "฿", "ฯ", "ກ", "ຳ", "ຸ", "ក", "ុ", "្", "က", "ု", "္", "ံ",
	// Other scripts: Indic signs, RTL with and without points, emoji sequences.
	"न", "ऩ", "\u093c", "\u094d", "ि", "ু", "ো", "\u09c7", "\u09be", "ש", "שׁ", "\u05b0", "ا", "آ", "\u0653", "\u0651\u064e", "ﷲ", "Ж", "й", "и\u0306", "привет",
	"👩", "\u200d", "👩\u200d💻", "🇩", "🇪", "🏽", "\u200b", "\u00ad", "\u00a0", "\u3000", "\u2028", "\u0085", "\ufeff", "\ufffd", "\U0001d400", "\U00011131", "\U00011127", "\U0001d15e", "\U0010ffff",
	// Not UTF-8: lone continuation, cut sequences, overlong, surrogates, too large.
	"\x80", "\xff", "\xc3", "\xe4\xb8", "\xf0\x9f\x98", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf8",
}

// text generates documents out of oddities, random code points and random bytes.
func genText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom(oddities),
		rapid.SampledFrom(oddities),
		rapid.SampledFrom(oddities),
		rapid.StringMatching(`[a-zA-Z0-9 _.]{0,70}`),
		rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 4), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(s []string) string { return strings.Join(s, "") })
}

func genOptions() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		o := Options{
			Version:         rapid.SampledFrom(versions).Draw(t, "version"),
			Normalize:       rapid.SampledFrom(normalizations).Draw(t, "form"),
			NoFold:          rapid.Bool().Draw(t, "nofold"),
			StripDiacritics: rapid.Bool().Draw(t, "strip"),
			Tokens:          rapid.SampledFrom(tokenizers).Draw(t, "tokens"),
		}
		switch rapid.IntRange(0, 7).Draw(t, "filters") {
		case 0:
			o.MinLength = rapid.IntRange(0, 3).Draw(t, "min")
		case 1:
			o.StopWords = []string{"The", "é", "中", "\xff", "", "SS"}
		case 2:
			o.Filter, o.FilterName = func(b []byte) bool { return len(b)%2 == 0 }, "even"
		}
		return o
	})
}

func mustNew(t interface{ Fatal(...any) }, o Options) *Tokenizer {
	tok, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func hashesOf(tokens []Token) []uint64 {
	var h []uint64
	for _, token := range tokens {
		h = append(h, token.Hash)
	}
	return h
}

// check compares both ways of tokenising with the twin.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, tok *Tokenizer, doc string) {
	t.Helper()
	want := twinHashes(tok.Options(), doc)
	if got := tok.AppendHashes(nil, []byte(doc)); !slices.Equal(got, want) {
		t.Fatalf("%v\nAppendHashes(%q)\n= %x\nwant %x\n%q", tok.Options(), doc, got, want, twinTokens(tok.Options(), doc))
	}
	tokens := tok.AppendTokens(nil, []byte(doc))
	if got := hashesOf(tokens); !slices.Equal(got, want) {
		t.Fatalf("%v\nAppendTokens(%q)\n= %x\nwant %x\n%q", tok.Options(), doc, got, want, twinTokens(tok.Options(), doc))
	}
	before := Token{}
	for _, token := range tokens {
		if token.Start < before.Start || token.End < before.End || token.End <= token.Start || token.End > len(doc) {
			t.Fatalf("%v: AppendTokens(%q): token at %d:%d after %d:%d",
				tok.Options(), doc, token.Start, token.End, before.Start, before.End)
		}
		before = token
	}
}

func TestTokenizerEqualsTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tok := mustNew(t, genOptions().Draw(t, "options"))
		for range 5 { // the scratch left by one text must not show in the next
			check(t, tok, genText().Draw(t, "text"))
		}
	})
}

func TestTwoOdditiesSideBySideEqualTheTwin(t *testing.T) {
	for _, o := range []Options{{}, {Tokens: Alnum}, {Normalize: NFC}, {Normalize: None}, {Tokens: Chars}, {StripDiacritics: true}} {
		tok := mustNew(t, o)
		for i := 0; i < len(oddities); i += thin() {
			a := oddities[i]
			var doc strings.Builder
			for _, b := range oddities {
				doc.WriteString(a + b + "\n")
			}
			check(t, tok, doc.String())
		}
	}
}

func TestEveryCodePointEqualsTheTwin(t *testing.T) {
	for _, o := range []Options{{}, {Tokens: Chars, Normalize: NFC}, {StripDiacritics: true, Normalize: None}} {
		tok := mustNew(t, o)
		var doc []byte
		for r := rune(0); r <= unicode.MaxRune; r += rune(thin()) {
			if utf8.ValidRune(r) {
				doc = utf8.AppendRune(append(doc, 'a'), r)
			}
			if len(doc) > 4*blockSize {
				check(t, tok, string(doc))
				doc = doc[:0]
			}
			if testsize.Small() && r > 0x3100 {
				break // making the pages is slow, too
			}
			if r >= 0x33000 && r < 0xe0000 || r >= 0xe0200 {
				r += 96 // planes without characters
			}
		}
		check(t, tok, string(doc))
	}
}

// What the loops rely on: a code point that is not glue keeps what lies before it
// and what lies behind it apart in every step of the pipeline.
func TestNormalFormsMayBeCutBeforeCodePointsThatAreNotGlue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := genOptions().Draw(t, "options").withDefaults()
		doc := []byte(strings.ToValidUTF8(genText().Draw(t, "text"), ""))
		p, tab := newPipeline(o), tableFor(o)
		want := bytes.Clone(p.apply(doc))
		var got []byte
		for begin := 0; begin < len(doc); {
			_, w := tab.lookup(doc, begin)
			end := begin + w
			for e, w := tab.lookup(doc, end); e&(glue|attach) != 0; e, w = tab.lookup(doc, end) {
				end += w
			}
			got = append(got, p.apply(doc[begin:end])...)
			begin = end
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%v: %q\nin pieces %q\nas a whole %q", o, doc, got, want)
		}
	})
}

func TestPlacesOfVerbatimTokensHoldTheToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tok := mustNew(t, Options{
			Version:   rapid.SampledFrom(versions).Draw(t, "version"),
			Normalize: None, NoFold: true,
			Tokens: rapid.SampledFrom(tokenizers).Draw(t, "tokens"),
		})
		doc := []byte(strings.ToValidUTF8(genText().Draw(t, "text"), "?"))
		tokens := tok.AppendTokens(nil, doc)
		for i, want := range twinTokens(tok.Options(), string(doc)) {
			got := string(doc[tokens[i].Start:tokens[i].End])
			if tok.options.ignores() {
				got = twinWithout(got, twinIgnorable)
			}
			if got != want {
				t.Fatalf("token %d of %q is %q, but its place holds %q", i, doc, want, got)
			}
		}
	})
}

// The version of Unicode stands in the canonical line: all tables must be of it.
func TestAllTablesAreOfOneUnicodeVersion(t *testing.T) {
	if unicode.Version != norm.Version {
		t.Errorf("categories are of Unicode %s, normalisation of %s", unicode.Version, norm.Version)
	}
}

// UAX29 has a path of its own for what most texts consist of. What is not so simple comes
// in many forms, which are to meet here.
func TestSegmentsOfWordsWithSomethingInTheMiddleEqualTheTwin(t *testing.T) {
	pieces := []string{
		"a", "don", "1", "42", "é", "Ü", "слово", "中", "か", "ア", "カタカナ", "ー", "ｰ", "ｶﾞ", "ワ", "한", "न", "ि", "्", "א", "ש", "กา",
		"_", "__", "'", "\"", ".", ",", ":", ";", "’", "·", "‧", "\u2024", "：", "．", "，", "（", "\u3000", "…", " ", "  ", "\n", "\r\n", "-", "!", "、", "。", "\t",
		"\u0301", "\u0308", "\u20dd", "\u00ad", "\u200d", "\u2060", "☀", "☀\ufe0f", "👩\u200d💻", "🇩", "🇪", "½", "²", "Ⅷ", "①", "\xff", "\xc3", "\x00",
	}
	rapid.Check(t, func(t *rapid.T) {
		tok := mustNew(t, Options{
			Tokens:          UAX29,
			Version:         rapid.SampledFrom(versions).Draw(t, "version"),
			Normalize:       rapid.SampledFrom(normalizations).Draw(t, "form"),
			NoFold:          rapid.Bool().Draw(t, "nofold"),
			StripDiacritics: rapid.Bool().Draw(t, "strip"),
		})
		for range 5 {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
			check(t, tok, text)
			check(t, tok, strings.Repeat("word ", rapid.IntRange(0, 80).Draw(t, "words"))+text+strings.Repeat(" word", 40))
		}
	})
}

// Both ways of tokenising meet real texts of all scripts.
func TestRealTextsHaveTheSameTokensBothWays(t *testing.T) {
	const most = 6 << 10 // bytes of a document
	var texts [][]byte
	for _, doc := range shareddata.Docs(t, 0, "udhr", "docs.jsonl.zst") {
		texts = append(texts, []byte(doc.Text[:min(len(doc.Text), most)]))
	}
	for _, language := range []string{"de", "en", "he", "ja", "ko", "vi", "zh"} {
		for _, text := range shareddata.Texts(t, 100<<10, "wiki_multilingual", language+".jsonl.zst") {
			texts = append(texts, text[:min(len(text), most)])
		}
	}
	for _, o := range []Options{{}, {Version: V1}, {Tokens: Alnum}, {Tokens: Space}, {Tokens: Chars}, {Tokens: UAX29}, {Normalize: None, NoFold: true}} {
		tok := mustNew(t, o)
		for i := 0; i < len(texts); i += thin() {
			text := texts[i]
			if got, want := tok.AppendHashes(nil, text), hashesOf(tok.AppendTokens(nil, text)); !slices.Equal(got, want) {
				t.Fatalf("%v: %.80q…: AppendHashes and AppendTokens differ", tok.Options(), text)
			}
		}
	}
}

// thin is by how much the long comparisons with the twin are cut down where tests do less.
func thin() int {
	if testsize.Small() {
		return 16
	}
	return 1
}
