package text

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestCanonicalLines(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "text/v2 nfkc fold words"},
		{Options{Normalize: NFKC, Tokens: Words, MinLength: 1}, "text/v2 nfkc fold words"},
		{Options{Normalize: None, NoFold: true, Tokens: Space}, "text/v2 none nofold space"},
		{Options{StripDiacritics: true, MinLength: 3, Tokens: Alnum}, "text/v2 nfkc fold alnum strip min=3"},
		{Options{Version: V1}, "text/v1 nfkc fold words"},
		{Options{Tokens: UAX29}, "text/v2 nfkc fold uax29 segments=17.0.0"},
	} {
		line := test.o.String()
		if want := test.want + " unicode=" + norm.Version; line != want {
			t.Errorf("line is %q, want %q", line, want)
		}
		if parsed, err := ParseOptions(line); err != nil || parsed.String() != line {
			t.Errorf("ParseOptions(%q) = %v, %v", line, parsed, err)
		}
	}
}

func TestPartsOfALineAreEnough(t *testing.T) {
	o, err := ParseOptions("chars nfc")
	if want := "text/v2 nfc fold chars unicode=" + norm.Version; err != nil || o.String() != want {
		t.Errorf("ParseOptions gives %v, %v; want %s", o, err, want)
	}
}

func TestStopWordsAreNamedByTheSetOfThem(t *testing.T) {
	line := func(words ...string) string { return Options{StopWords: words}.String() }
	if a, b := line("the", "Of", "an"), line("an", "of", "", "THE", "an"); a != b || !strings.Contains(a, " stop=") {
		t.Errorf("one set of stop words has the lines %q and %q", a, b)
	}
	if a, b := line("the"), line("an"); a == b {
		t.Errorf("two sets of stop words have the line %q", a)
	}
	if a, b := line(), line(""); a != b {
		t.Errorf("no stop words have the lines %q and %q", a, b)
	}
}

func TestBadOptionsAreRefusedWithWhatIsAllowed(t *testing.T) {
	keep := func([]byte) bool { return true }
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Version: "v2"}, "text/v2, text/v1"},
		{Options{Normalize: "NFD"}, "nfkc, nfc, none"},
		{Options{Tokens: "wrods"}, "words, alnum, uax29, space, chars, graphemes"},
		{Options{MinLength: -1}, "use 0"},
		{Options{Filter: keep}, "needs a name"},
		{Options{Filter: keep, FilterName: "two words"}, "without spaces"},
		{Options{FilterName: "none"}, "no function"},
	} {
		if _, err := New(test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%+v): %v, want something about %q", test.o, err, test.want)
		}
	}
	for line, want := range map[string]string{
		"text/v3":          "use one of text/v2, text/v1",
		"wrods":            "uax29",
		"min=x":            "not a number",
		"min=-1":           "negative",
		"unicode=13.0.0":   "cannot be compared",
		"uax29 segments=9": "cannot be compared",
		"stop=0123":        "set them in Options",
		"filter=f":         "set them in Options",
	} {
		if _, err := ParseOptions(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseOptions(%q): %v, want something about %q", line, err, want)
		}
	}
}

func TestBuiltinStopWordsAreTokensOfTheirLanguage(t *testing.T) {
	for lang := range builtinStopWords {
		stop, err := BuiltinStopWords(lang)
		if err != nil || len(stop) < 50 {
			t.Errorf("%s: %d stop words, %v", lang, len(stop), err)
		}
		for _, w := range stop {
			if tokens := twinTokens(Options{}, w); len(tokens) != 1 {
				t.Errorf("%s: stop word %q is %d tokens", lang, w, len(tokens))
			}
		}
		if sorted := slices.Sorted(slices.Values(stop)); len(slices.Compact(sorted)) != len(stop) {
			t.Errorf("%s: a stop word stands twice", lang)
		}
		if left := mustNew(t, Options{StopWords: stop}).AppendHashes(nil, []byte(strings.Join(stop, " "))); len(left) > 0 {
			t.Errorf("%s: %d stop words are kept", lang, len(left))
		}
	}
	if _, err := BuiltinStopWords("xx"); err == nil || !strings.Contains(err.Error(), "de, en, es") {
		t.Errorf("an unknown language: %v", err)
	}
}
