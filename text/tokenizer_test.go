package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/shareddata"
)

// hashAll returns the hashes of tokens given as text.
func hashAll(tokens []string) []uint64 {
	var h []uint64
	for _, token := range tokens {
		h = append(h, hashing.Bytes([]byte(token)))
	}
	return h
}

func TestTokens(t *testing.T) {
	even := func(b []byte) bool { return utf8.RuneCount(b)%2 == 0 }
	for _, test := range []struct {
		name string
		o    Options
		doc  string
		want string // tokens with | between them
	}{
		{"an empty text has no tokens", Options{}, "", ""},
		{"separators alone are no tokens", Options{}, " \t\n_.,-–—“”", ""},
		{"words are folded runs of letters and digits", Options{}, "It's 3 O'Clock, B2B_2!", "it|s|3|o|clock|b2b|2"},
		{"case can be kept", Options{NoFold: true}, "It's Ü", "It|s|Ü"},
		{"folding is full", Options{}, "STRASSE Straße ΣΊΣΥΦΟΣ σίσυφος İ", "strasse|strasse|σίσυφοσ|σίσυφοσ|i̇"},
		{"composed and decomposed are the same", Options{}, "é e\u0301", "é|é"},
		{"unless not normalised", Options{Normalize: None}, "é e\u0301", "é|e\u0301"},
		{"compatibility forms are plain ones", Options{}, "Ｆｕｌｌ ﬁne x² ½", "full|fine|x2|1|2"},
		{"unless the form is canonical", Options{Normalize: NFC}, "ﬁ x²", "fi|x²"},
		{"diacritics can be stripped", Options{StripDiacritics: true}, "Crème brûlée, Ṩmörgås, Ελλάδα, Tiếng Việt", "creme|brulee|smorgas|ελλαδα|tieng|viet"},
		{"a mark composes with a separator before it", Options{}, "a<\u0338b", "a|b"},
		{"a mark behind a separator begins a word", Options{}, "a -\u0338b", "a|\u0338b"},
		{"words of 16 and more bytes", Options{}, "Internationalisierung äußerungsmöglichkeiten", "internationalisierung|äusserungsmöglichkeiten"},

		{"Han and kana are single tokens", Options{}, "東京タワーは333m。", "東|京|タ|ワ|ー|は|333m"},
		{"Thai, Lao, Khmer and Myanmar too, marks and all", Options{}, "ที่ ດີ កុ မိ", "ท|ี|่|ດ|ີ|ក|ុ|မ|ိ"},
		{"half-width kana are kana", Options{}, "ｶﾞｰﾄﾞ", "ガ|ー|ド"},
		{"a mark of no script joins the character before it", Options{}, "か\u3099 か\u309a x 中\u0301文", "が|か\u309a|x|中\u0301|文"},
		{"Hangul are words", Options{}, "한국어 \u1112\u1161\u11ab", "한국어|한"},
		{"Devanagari keeps its vowel signs", Options{}, "हिन्दी में", "हिन्दी|में"},
		{"Hebrew and Arabic keep their points", Options{}, "שָׁלוֹם عَرَبِيّ", "שָׁלוֹם|عَرَبِيّ"},

		{"Cherokee folds to capitals", Options{}, "Ꮳꮃꭹ ꮳᎳᎩ ᏸ Ᏸ", "ᏣᎳᎩ|ᏣᎳᎩ|Ᏸ|Ᏸ"},
		{"soft hyphens and zero-width characters are no part of words", Options{}, "ex\u00adam\u200bple wo\u2060rd \ufeffe\u200d\u0301", "example|word|é"},
		{"nor is what stretches Arabic, N'Ko and Mongolian", Options{}, "مـــرحبا ߞߺߊ ᠠ\u180aᠭ", "مرحبا|ߞߊ|ᠠᠭ"},
		{"nor do they split alnum", Options{Tokens: Alnum}, "ex\u00adam\u034fple می\u200cخواهم", "example|میخواهم"},
		{"nor change segments", Options{Tokens: UAX29}, "ex\u00adam\u200bple can\u2060't", "example|can't"},
		{"nor what lies between spaces", Options{Tokens: Space}, "ex\u00adample, \u200b ❤\ufe0f", "example,|❤"},
		{"nor are they characters", Options{Tokens: Chars}, "a\u00adb👩\u200d💻", "a|b|👩|💻"},
		{"graphemes keep them within a cluster", Options{Tokens: Graphemes}, "a\u00adb\u200b👩\u200d💻❤\ufe0f\ufeff", "a|b|👩\u200d💻|❤\ufe0f"},
		{"text/v1 keeps them", Options{Version: V1}, "ex\u00adample مـرحبا Ꭰ", "ex|ample|مـرحبا|ꭰ"},

		{"an invalid byte separates words", Options{}, "ab\xffcd \xe4\xb8 \xed\xa0\x80é\x80", "ab|cd|é"},
		{"a NUL separates words", Options{}, "a\x00b", "a|b"},
		{"an invalid byte is not a character", Options{Tokens: Chars}, "a\xffé", "a|é"},
		{"an invalid byte does not split a grapheme", Options{Tokens: Graphemes}, "e\xff\u0301x", "e\u0301|x"},

		{"alnum leaves marks out", Options{Tokens: Alnum}, "हिन्दी q\u0323r 東京2", "ह|न|द|q|r|東京2"},
		{"uax29 keeps numbers and contractions whole", Options{Tokens: UAX29}, "Can't pay $3.50, e.g. now — ok", "can't|pay|3.50|e.g|now|ok"},
		{"uax29 stops at an invalid byte", Options{Tokens: UAX29}, "a\xffb", "a|b"},
		{"space splits at Unicode white space only", Options{Tokens: Space}, "a,b\u00a0C-d\u3000e\u2028\tf", "a,b|c-d|e|f"},
		{"chars are code points", Options{Tokens: Chars}, "Aé 中e\u0301", "a|é| |中|é"},
		{"graphemes are clusters", Options{Tokens: Graphemes}, "g\u0308🇩🇪👩\u200d💻\r\n", "g\u0308|🇩🇪|👩\u200d💻|\r\n"},

		{"stop words are folded themselves", Options{StopWords: []string{"THE", "Straße"}}, "The STRASSE is the end", "is|end"},
		{"short tokens can be dropped", Options{MinLength: 3}, "a äb abc éàü 中", "abc|éàü"},
		{"a filter sees the folded token", Options{Filter: even, FilterName: "even"}, "A Bc DEF ghij", "bc|ghij"},
		{"all filters at once", Options{Filter: even, FilterName: "even", MinLength: 3, StopWords: []string{"four"}}, "an four five sixes", "five"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = strings.Split(test.want, "|")
			}
			if twin := twinTokens(test.o, test.doc); !slices.Equal(twin, want) {
				t.Errorf("twin gives %q, want %q", twin, want)
			}
			tok := mustNew(t, test.o)
			if got := tok.AppendHashes(nil, []byte(test.doc)); !slices.Equal(got, hashAll(want)) {
				t.Errorf("AppendHashes gives %d tokens that are not %q", len(got), want)
			}
			if got := hashesOf(tok.AppendTokens(nil, []byte(test.doc))); !slices.Equal(got, hashAll(want)) {
				t.Errorf("AppendTokens gives %d tokens that are not %q", len(got), want)
			}
		})
	}
}

func TestPlacesAreInTheOriginalBytes(t *testing.T) {
	for _, test := range []struct {
		name, doc string
		want      string // what the places hold, with | between
	}{
		{"folding may change lengths", "ẞtraße İx", "ẞtraße|İx"},
		{"normalisation may change lengths", "Ｆｕｌｌ e\u0301t", "Ｆｕｌｌ|e\u0301t"},
		{"several tokens may come from one place", "1½3", "1½|½3"},
		{"characters in order", "東 京", "東|京"},
		{"invalid bytes are counted", "\xffa\xe4\xb8b", "a|b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, token := range mustNew(t, Options{}).AppendTokens(nil, []byte(test.doc)) {
				got = append(got, test.doc[token.Start:token.End])
			}
			if joined := strings.Join(got, "|"); joined != test.want {
				t.Errorf("%q has tokens at %q, want %q", test.doc, joined, test.want)
			}
		})
	}
}

// Texts of several blocks, cut everywhere: at words, marks, characters.
func TestBlocksAreCutBetweenTokens(t *testing.T) {
	for name, unit := range map[string]string{
		"ASCII":                 "The quick brown fox, ",
		"one word":              "x",
		"one word, not ASCII":   "ö",
		"Han":                   "漢字",
		"Thai with two marks":   "กุ่",
		"kana, decomposed":      "か\u3099",
		"Latin, decomposed":     "e\u0301",
		"marks only":            "\u0301",
		"separators that join":  "<\u0338",
		"jamo":                  "\u1112\u1161\u11ab",
		"mixed":                 "Zürich 東京 naïve ½ x<\u0338 ",
		"invalid":               "\xff",
		"invalid among letters": "\xe4a\xb8",
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []Options{{}, {Tokens: Alnum}, {Tokens: Chars}, {Tokens: Space}, {Normalize: NFC, StripDiacritics: true}} {
				tok := mustNew(t, o)
				for shift := 0; shift < 4; shift += thin() {
					doc := strings.Repeat(".", shift) + strings.Repeat(unit, 3*blockSize/len(unit))
					want := twinHashes(o, doc)
					var got []uint64
					for from := 0; from < len(doc); {
						next := 0
						if got, next = tok.AppendHashesFrom(got, []byte(doc), from); next <= from {
							t.Fatalf("%v: block from %d ends at %d", o, from, next)
						}
						from = next
					}
					if !slices.Equal(got, want) {
						t.Errorf("%v: %d tokens, want %d; or they differ", o, len(got), len(want))
					}
				}
			}
		})
	}
}

func TestNothingIsAllocatedPerDocumentWhenWarm(t *testing.T) {
	docs := []string{
		strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200),
		strings.Repeat("Überall auf der Welt, é e\u0301 q\u0323\u0301 日本語、ガ か\u3099 한국어 ½ ﬁ हिन्दी ที่ \xff 👩\u200d💻 ", 100),
		strings.Repeat("é", 3000),
		"",
	}
	for _, o := range []Options{
		{},
		{StripDiacritics: true, Tokens: Alnum},
		{Normalize: None, NoFold: true},
		{Tokens: Space, StopWords: []string{"the"}},
		{Tokens: Chars},
		{Tokens: UAX29},
		{Tokens: Graphemes},
		{MinLength: 2, Filter: func(b []byte) bool { return b[0] != 'x' }, FilterName: "no-x"},
	} {
		tok := mustNew(t, o)
		var hashes []uint64
		var tokens []Token
		buf := make([]byte, 20_000)
		run := func() {
			for _, doc := range docs {
				b := buf[:copy(buf, doc)]
				hashes = tok.AppendHashes(hashes[:0], b)
				tokens = tok.AppendTokens(tokens[:0], b)
			}
		}
		run()
		if allocs := testing.AllocsPerRun(10, run); allocs > 0 {
			t.Errorf("%v: %v allocations", o, allocs)
		}
	}
}

func TestTokenizersOfOneKindMayRunAtOnce(t *testing.T) {
	doc := strings.Repeat("naïve Ελλάδα 漢字 ", 50)
	want := twinHashes(Options{Normalize: NFC}, doc)
	done := make(chan bool)
	for range 8 {
		go func() {
			tok := mustNew(t, Options{Normalize: NFC})
			done <- slices.Equal(tok.AppendHashes(nil, []byte(doc)), want)
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("tokens differ between goroutines")
		}
	}
}

func TestEveryLanguageOfTheDeclarationHasTokens(t *testing.T) {
	tok := mustNew(t, Options{})
	languages := shareddata.Docs(t, 0, "udhr", "docs.jsonl.zst")
	if len(languages) < 300 {
		t.Errorf("only %d languages", len(languages))
	}
	for i, doc := range languages {
		hashes := tok.AppendHashes(nil, []byte(doc.Text))
		if len(hashes) == 0 && strings.TrimSpace(doc.Text) != "" {
			t.Errorf("%s: no tokens in %d bytes", doc.ID, len(doc.Text))
		}
		if i%(8*thin()) == 0 && !slices.Equal(hashes, twinHashes(Options{}, doc.Text)) {
			t.Errorf("%s: tokens differ from the twin's", doc.ID)
		}
	}
}
