package dedup

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-dev/alike/shingle"
)

// expectedOf returns what a run decides before it reads.
func expectedOf(t *testing.T, c Config) string {
	t.Helper()
	s, err := settle(c)
	if err != nil {
		t.Fatal(err)
	}
	j, in, err := begin(t.Context(), s, "pairs", s.Begin)
	if err != nil {
		t.Fatal(err)
	}
	how, err := expect(t.Context(), j, in, false)
	if err := errors.Join(err, j.close(true)); err != nil {
		t.Fatal(err)
	}
	return how.expected
}

// randomDocs are texts of so many words, of so many different ones.
func randomDocs(n, words, different int) (docs []testDoc) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range n {
		docs = append(docs, testDoc{strconv.Itoa(i), strings.Join(randomWords(rng, words, different), " ")})
	}
	return docs
}

func TestTheCheaperWayIsChosenBeforeTextsAreRead(t *testing.T) {
	dir := t.TempDir()
	hot, distinct, folder := filepath.Join(dir, "hot.jsonl"), filepath.Join(dir, "distinct.jsonl"), filepath.Join(dir, "texts")
	writeHotWords(t, hot, 600)
	writeJSONL(t, distinct, randomDocs(1500, 120, 100_000))
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, d := range randomDocs(300, 60, 120) {
		if err := os.WriteFile(filepath.Join(folder, d.id), []byte(d.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what   string
		config Config
		want   string
	}{
		{"many common words", Config{Inputs: []string{hot}, Decide: Similarity{Threshold: 0.3}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}, MethodExact},
		{"nothing in common", Config{Inputs: []string{distinct}}, MethodLSH},
		{"asked for", Config{Inputs: []string{distinct}, Decide: Similarity{Candidates: LSH{}}}, ""},
		{"files of one text each", Config{Inputs: []string{folder}, Decide: Similarity{Threshold: 0.3}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}, MethodExact},
		{"two collections", Config{Inputs: []string{hot}, Beside: With{distinct}}, ""},
	} {
		c.config.limits.expect = 1
		if got := expectedOf(t, c.config); got != c.want {
			t.Errorf("%s: %q is expected, want %q", c.what, got, c.want)
		}
	}
}

// What is expected changes the time that a run takes, and only where bands miss pairs its result.
func TestRunsThatExpectAnExactJoinFindWhatItFinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.jsonl")
	writeHotWords(t, path, 400)
	config := Config{Inputs: []string{path}, Decide: Similarity{Threshold: 0.4, Candidates: Exact{}}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}
	want, _ := pairLines(t, config)
	config.limits.expect = 1
	bySimilarity(&config, func(s *Similarity) { s.Candidates = Auto{} })
	findsExactly(t, config, want)
}
