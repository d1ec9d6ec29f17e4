package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/recipe"
)

// sketchFlags are other values of every flag that says how a signature is made, with
// what else they need.
var sketchFlags = map[string][]string{
	"ngram":            {"--ngram=3", "--ngram=1", "--preset=exlsh-word --ngram=4", "--scheme=simhash --ngram=3", "--scheme=bottomk,hash=fnv1a --ngram=3"},
	"tokens":           {"--tokens=chars", "--tokens=alnum", "--preset=exlsh-word --tokens=chars", "--scheme=fastsimhash --tokens=chars"},
	"normalize":        {"--normalize=nfc", "--normalize=none", "--preset=exlsh-word --normalize=nfc"},
	"fold":             {"--fold=false", "--preset=exlsh-char --fold=false"},
	"strip-diacritics": {"--strip-diacritics", "--preset=exlsh-char --strip-diacritics"},
	"stop-words":       {"--stop-words=en", "--stop-words=de", "--preset=exlsh-word --stop-words=en"},
	"min-token-length": {"--min-token-length=3", "--preset=exlsh-word --min-token-length=3"},
	"repetitions":      {"--repetitions", "--scheme=simhash --repetitions"},
	"shingle-hash":     {"--tokens=ascii --shingle-hash=fnv1"},
	"scheme": {
		"--scheme=oph,k=64", "--scheme=oph,bits=8", "--scheme=kmins", "--scheme=kmins,family=xor", "--scheme=bottomk", "--scheme=bottomk,hash=fnv1a",
		"--scheme=simhash", "--scheme=fastsimhash", "--scheme=fastsimhash,bits=100",
	},
	"seed":         {"--seed=2", "--scheme=kmins --seed=2"},
	"measure":      {"--measure=weighted-jaccard", "--measure=weighted-jaccard --scheme=weighted"},
	"permutations": {"--permutations=NUMBERS"},
	"preset":       {"--preset=hash4j-fastsimhash", "--preset=hash4j-simhash", "--preset=exlsh-word", "--preset=exlsh-char"},
	"bits":         {"--preset=hash4j-fastsimhash --bits=128", "--preset=hash4j-simhash --bits=128"},
	"hash":         {"--preset=exlsh-word --hash=xxh3", "--preset=exlsh-char --hash=sha1"},
}

func TestNoTwoSettingsOfSketchPrintTheSameScheme(t *testing.T) {
	dir := t.TempDir()
	input, numbers := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "numbers")
	for path, content := range map[string]string{
		input:   `{"id":"a","text":"The quick brown fox, the soft\u00adhyphen and the Straße of Sísyphos 12 the end"}` + "\n",
		numbers: "17\n4\n1234567\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Every flag that sketch has, but those that say what is read and written.
	apart := pflag.NewFlagSet("", pflag.PanicOnError)
	new(inputFlags).add(apart)
	known := []string{"output", "hex"}
	apart.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	settings := []string{""}
	newSketch().Flags().VisitAll(func(f *pflag.Flag) {
		if len(sketchFlags[f.Name]) == 0 && !slices.Contains(known, f.Name) {
			t.Errorf("--%s: no other value of it is tried here", f.Name)
		}
		settings = append(settings, sketchFlags[f.Name]...)
	})
	seen := map[string]string{}
	for _, setting := range settings {
		scheme := schemeOf(t, input, strings.Fields(strings.ReplaceAll(setting, "NUMBERS", numbers)))
		if before, twice := seen[scheme]; twice {
			t.Errorf("%q and %q both print %s", before, setting, scheme)
		}
		seen[scheme] = setting
		if _, err := recipe.Parse(scheme); err != nil && !strings.Contains(setting, "stop-words") && !strings.Contains(setting, "permutations") {
			t.Errorf("%q: the scheme %s is not parsed: %v", setting, scheme, err)
		}
	}
}

// schemeOf runs sketch and returns the scheme that it prints.
func schemeOf(t *testing.T, input string, flags []string) string {
	t.Helper()
	cmd := newSketch()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(append([]string{input, "--quiet"}, flags...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("sketch %q: %v", flags, err)
	}
	var line struct{ Scheme string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Scheme == "" {
		t.Fatalf("sketch %q prints %q: %v", flags, out.String(), err)
	}
	return line.Scheme
}
