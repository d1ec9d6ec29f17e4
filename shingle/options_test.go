package shingle

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/alike-dev/alike/text"
)

func TestCanonicalLinesAreParsedBack(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "text/v2 nfkc fold words n=5"},
		{Options{N: 3, Repetitions: true}, "text/v2 nfkc fold words n=3 reps"},
		{Options{N: 3, Multiset: true}, "text/v2 nfkc fold words n=3 multiset"},
		{Options{N: 54, Text: text.Options{Tokens: text.ASCII}, Hash: FNV1}, "text/v2 none fold ascii n=54 hash=fnv1"},
		{Options{N: 54, Text: text.Options{Normalize: text.None, NoFold: true, Tokens: text.Chars}}, "text/v2 none nofold chars n=54"},
		{Options{N: 1, Text: text.Options{StripDiacritics: true, MinLength: 2}}, "text/v2 nfkc fold words strip min=2 n=1"},
	} {
		line := test.o.String()
		if want := test.want + " unicode=" + norm.Version; line != want {
			t.Errorf("line is %q, want %q", line, want)
		}
		parsed, err := ParseOptions(line)
		if err != nil || parsed.String() != line {
			t.Errorf("ParseOptions(%q) = %v, %v", line, parsed, err)
		}
	}
}

func TestBadOptionsAreRefusedWithTheRemedy(t *testing.T) {
	if _, err := New(Options{N: -1}); err == nil || !strings.Contains(err.Error(), "use 1 or more") {
		t.Errorf("n = -1: %v", err)
	}
	if _, err := New(Options{Text: text.Options{Tokens: "wrods"}}); err == nil || !strings.Contains(err.Error(), "words") {
		t.Errorf("a misspelt tokeniser: %v", err)
	}
	for line, want := range map[string]string{
		"n=0":            "1 or more",
		"n=five":         "1 or more",
		"n=5 wrods":      "words",
		"unicode=1.2 ":   "cannot be compared",
		"text/v0 n=5":    "not a version",
		"words stop=abc": "set them in Options",
	} {
		if _, err := ParseOptions(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseOptions(%q): %v, want something about %q", line, err, want)
		}
	}
}

func FuzzParseOptions(f *testing.F) {
	f.Add("text/v2 nfkc fold words n=5 unicode=15.0.0")
	f.Add("utf16/v1 hash=fnv1a32-listing n=3 unicode=15.0.0")
	f.Add("chars none n=54 reps")
	f.Fuzz(func(t *testing.T, line string) {
		o, err := ParseOptions(line)
		if err != nil {
			return
		}
		if back, err := ParseOptions(o.String()); err != nil || back.String() != o.String() {
			t.Fatalf("%q parses to %q, which parses to %q, %v", line, o, back, err)
		}
	})
}
