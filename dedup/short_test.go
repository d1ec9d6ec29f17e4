package dedup

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
)

// writeTitles writes texts of 1 to 50 words: titles, and some that are too long to be found by
// their features. Every other text is one before it with a word more, less or twice.
func writeTitles(t testing.TB, path string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	var texts [][]string
	for i := range n {
		words := randomWords(rng, 1+rng.IntN(9), 4*n)
		switch {
		case i%2 == 1:
			words = slices.Clone(texts[rng.IntN(i)])
			switch at := rng.IntN(len(words)); rng.IntN(4) {
			case 0:
				words = slices.Insert(words, at, "another")
			case 1:
				words = slices.Delete(words, at, min(at+1, len(words)-1))
			case 2:
				words = append(words, words[at:]...)
			}
		case i%10 == 0:
			words = randomWords(rng, 28+rng.IntN(22), 4*n)
		}
		texts = append(texts, words)
	}
	docs := make([]testDoc, n)
	for i, words := range texts {
		docs[i] = testDoc{fmt.Sprint(i), strings.Join(words, " ")}
	}
	writeJSONL(t, path, docs)
}

// Nothing but sets is known of a pair here, so the exact join tells the truth.
func TestAutoMissesNoPairOfShortTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "titles.jsonl")
	writeTitles(t, path, 1200)
	for _, c := range []Config{
		{},
		{Decide: Similarity{Threshold: 0.5}},
		{Decide: Similarity{Threshold: 0.6, Measure: measure.Cosine}, Signatures: OfShingles{Options: shingle.Options{N: 2}}},
		{Decide: Similarity{Threshold: 0.7, Measure: measure.WeightedJaccard}, Signatures: OfShingles{Options: shingle.Options{N: 3}}},
	} {
		c.Inputs = []string{path}
		ofShingles(&c, func(s *OfShingles) { s.Options.N = max(s.Options.N, 1) })
		exact := c
		bySimilarity(&exact, func(s *Similarity) { s.Candidates = Exact{} })
		want, _ := pairLines(t, exact)
		c.limits.retain, c.limits.exact = 1, 1
		for _, how := range []struct {
			threads int
			memory  int64
			text    int // from which on they are made block by block
		}{{1, 0, 0}, {3, 0, 30}, {2, 1, 0}} {
			c.Threads, c.limits.memory, c.limits.text = how.threads, how.memory, how.text
			got, s := pairLines(t, c)
			if s.CandidateMethod != MethodLSH {
				t.Fatalf("%+v: candidates are %s", c.Decide, s.CandidateMethod)
			}
			if len(want) < 100 || !slices.Equal(got, want) {
				t.Errorf("%+v, %+v: %d pairs, want %d", c.Decide, how, len(got), len(want))
			}
		}
	}
}

// The documents of buckets over the cap are joined.
func TestSparseSearchConnectsShortTextsAsAllPairsDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "titles.jsonl")
	writeTitles(t, path, 900)
	for _, limit := range []int{2, 9, DefaultBucketCap} {
		c := Config{Inputs: []string{path}, BucketCap: limit, Threads: 2, Decide: Similarity{Threshold: 0.6}, Signatures: OfShingles{Options: shingle.Options{N: 1}}}
		c.limits.retain, c.limits.exact = 1, 1
		want, s := connected(t, c, false)
		got, _ := connected(t, c, true)
		if !slices.Equal(got, want) || s.CandidateMethod != MethodLSH || (s.BucketsCapped == 0) != (limit == DefaultBucketCap) {
			t.Errorf("cap %d: %d and %d documents in clusters by %s, %d buckets over the cap", limit, len(got), len(want), s.CandidateMethod, s.BucketsCapped)
		}
	}
}
