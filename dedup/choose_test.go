package dedup

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/shingle"
)

// writeHotWords writes documents of few different words: most pairs share some, and
// meet in bands, and few are alike.
func writeHotWords(t testing.TB, path string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 11))
	docs := make([]testDoc, n)
	for i := range docs {
		docs[i] = testDoc{fmt.Sprint(i), strings.Join(randomWords(rng, 60, 120), " ")}
		if i%20 > 16 { // families
			docs[i].text = docs[i-1].text + " again"
		}
	}
	writeJSONL(t, path, docs)
}

// The number of features alone would not tell: there are more than a run keeps.
func TestAutoJoinsExactlyWhereBandsProposeMuchInVain(t *testing.T) {
	if testsize.Small() {
		t.Skip("it takes a minute under the race detector, and the ways that it goes are those of other tests")
	}
	path := filepath.Join(t.TempDir(), "words.jsonl")
	writeHotWords(t, path, 1500)
	config := Config{Inputs: []string{path}, Decide: Similarity{Threshold: 0.5}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}
	exact := config
	bySimilarity(&exact, func(s *Similarity) { s.Candidates = Exact{} })
	want, _ := pairLines(t, exact)
	config.limits.retain = 1
	findsExactly(t, config, want)
}

// findsExactly checks that a configuration joins exactly and finds the wanted pairs, with any threads and memory.
func findsExactly(t *testing.T, config Config, want []string) {
	t.Helper()
	for _, how := range []struct {
		threads int
		memory  int64
	}{{1, 0}, {3, 0}, {2, 1}} {
		config.Threads, config.limits.memory = how.threads, how.memory
		got, s := pairLines(t, config)
		if s.CandidateMethod != MethodExact || len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%+v: %s found %d pairs, want exact and %d", how, s.CandidateMethod, len(got), len(want))
		}
	}
}

// Sets that would have to be made again are not where bands have little to verify.
func TestAutoTakesBandsWhereTheyProposeLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, generate(3, 800))
	config := Config{Inputs: []string{path}}
	config.limits.retain = 1
	if _, s := pairLines(t, config); s.CandidateMethod != MethodLSH {
		t.Errorf("candidates are %s", s.CandidateMethod)
	}
}

// An index numbers fewer features than memory may hold: then there are several.
func TestJoinsOfMoreFeaturesThanAnIndexNumbersAreComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.jsonl")
	writeHotWords(t, path, 300)
	config := Config{Inputs: []string{path}, Decide: Similarity{Threshold: 0.4, Candidates: Exact{}}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}
	want, _ := pairLines(t, config)
	config.limits.index = 1000
	if got, _ := pairLines(t, config); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d pairs, want %d", len(got), len(want))
	}
}
