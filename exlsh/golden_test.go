package exlsh

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
)

// preset returns the options of a case of the golden files.
func preset(t testing.TB, mode string, n int, hash string) Options {
	t.Helper()
	o := Word()
	if mode == "char" {
		o = Char()
	}
	var err error
	if o.Hash, err = ParseHash(hash); err != nil {
		t.Fatal(err)
	}
	o.N = n
	return o
}

func sketch(t testing.TB, o Options, text string) string {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint, _ := s.AppendSketch(nil, []byte(text))
	return base64.StdEncoding.EncodeToString(fingerprint)
}

func TestFingerprintsPrintedInTheArticleAreMade(t *testing.T) {
	for _, c := range []struct {
		mode, text string
		n          int
		hash, want string
	}{
		{"word", "lorem ipsum dolor sit", 4, "md5", "X2Vs9ee9Uk38p6pkUIhlZQ=="},
		{"word", "lorem ipsum dolor sit", 1, "sha256", "BABBQURRDEiogqAAISKIKAWAQEQZAAgrUtTgXD5FDaA="},
		{"word", "lorem ipsum dolor sit", 3, "md5", "OEAhAhKSgBAwgQEAgCCAEg=="},
		{"char", "username", 3, "md5", "FPIBaaBQGlKKARlqA9lb1g=="},
		// and those of the documentation
		{"word", "Lorem ipsum dolor sit amet", 3, "md5", "uX05itKaghA0gQHCwDCIFg=="},
		{"word", "Lorem ipsum dolor sit amet", 2, "sha1", "VhW06EEJyWQA1gKIAAlQgI4NHUE="},
	} {
		if got := sketch(t, preset(t, c.mode, c.n, c.hash), c.text); got != c.want {
			t.Errorf("%s, n = %d, %s of %q is %s, want %s", c.mode, c.n, c.hash, c.text, got, c.want)
		}
	}
}

type goldenCase struct {
	Mode       string
	Text       string
	N          int
	Hash       string
	Base64     string
	Normalized string   `json:"normalized_hex"`
	Tokens     []string `json:"tokens_hex"`
}

func TestEveryStepIsThatOfTheOriginal(t *testing.T) {
	raw, err := os.ReadFile(shareddata.Path(t, "..", "golden", "ex_lsh.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases []goldenCase }
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) < 13 {
		t.Errorf("only %d cases", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		c.check(t)
	}
}

// check compares the normal form, the tokens of both ways, and the fingerprint.
func (c goldenCase) check(t *testing.T) {
	t.Helper()
	normal := appendWordCharacters(nil, []byte(c.Text))
	if got := hex.EncodeToString(normal); got != c.Normalized {
		t.Errorf("%q becomes %s, want %s", c.Text, got, c.Normalized)
	}
	o := preset(t, c.Mode, c.N, c.Hash)
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.tokenize([]byte(c.Text))
	var cut, slow []string
	for i := range len(s.bounds) - 1 {
		cut = append(cut, hex.EncodeToString(s.text[s.bounds[i]:s.bounds[i+1]]))
	}
	for _, token := range o.Tokenizer.apply(nil, normal) {
		slow = append(slow, hex.EncodeToString(token))
	}
	if !slices.Equal(cut, c.Tokens) || !slices.Equal(slow, c.Tokens) {
		t.Errorf("%s of %q: cut at once %v, by the tokeniser %v, want %v", c.Mode, c.Text, cut, slow, c.Tokens)
	}
	if got := sketch(t, o, c.Text); got != c.Base64 {
		t.Errorf("%s, n = %d, %s of %q is %s, want %s", c.Mode, c.N, c.Hash, c.Text, got, c.Base64)
	}
}
