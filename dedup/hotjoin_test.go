package dedup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/recipe"
)

// randomWords returns n words at random.
func randomWords(rng *rand.Rand, n, vocabulary int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", rng.IntN(vocabulary))
	}
	return words
}

// writeHot writes families of alike documents beside documents that share three
// quarters and are not alike, all of them more than fit under a cap of members.
func writeHot(t testing.TB, path string, members int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var docs []testDoc
	add := func(words []string) {
		docs = append(docs, testDoc{fmt.Sprint(len(docs)), strings.Join(words, " ")})
	}
	boilerplate := randomWords(rng, 60, 1<<20)
	for range 2 {
		family := randomWords(rng, 60, 1<<20)
		for range members {
			edited := append([]string{}, family...)
			for range 1 + rng.IntN(2) {
				edited[rng.IntN(len(edited))] = fmt.Sprintf("e%d", rng.IntN(1<<20))
			}
			add(edited)
			add(append(randomWords(rng, 20, 1<<20), boilerplate...))
		}
	}
	writeJSONL(t, path, docs)
}

// Every pair is at the threshold or above it, and most are close to it.
func TestHotBucketsOfDocumentsReallyAlikeKeepTheirPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hot.jsonl")
	writeHot(t, path, 150)
	config := Config{Inputs: []string{path}, BucketCap: 40, Decide: Similarity{Threshold: 0.7, Candidates: LSH{}}}
	exact := config
	bySimilarity(&exact, func(s *Similarity) { s.Candidates = Exact{} })
	want, _ := pairLines(t, exact)
	for _, retain := range []int64{0, 1} { // sets in the table, from records
		var notices []string
		config.limits.retain, config.OnNotice = retain, func(notice Notice) { notices = append(notices, notice.String()) }
		got, s := pairLines(t, config)
		if float64(len(got)) < DefaultRecall*float64(len(want)) || s.BucketsCapped == 0 || len(notices) > 0 {
			t.Errorf("%d of %d pairs, %d buckets capped, notices %q", len(got), len(want), s.BucketsCapped, notices)
		}
		if s.Candidates != s.Verified+s.Rejected || s.Verified != int64(len(got)) {
			t.Errorf("%d pairs of %d candidates, %d verified, %d rejected", len(got), s.Candidates, s.Verified, s.Rejected)
		}
	}
}

// All pairs of many documents of one template would be too many: they are given up,
// and said to be.
func TestPairsOfHotBucketsThatAreGivenUpAreTold(t *testing.T) {
	if testsize.Small() {
		t.Skip("so large a bucket takes long under the race detector")
	}
	const n = 12_000
	var docs []testDoc
	for i := range n {
		docs = append(docs, testDoc{fmt.Sprint(i), fmt.Sprintf("%s serial%d", near(0)[:200], i)})
	}
	dir := t.TempDir()
	many, few := filepath.Join(dir, "many.jsonl"), filepath.Join(dir, "few.jsonl")
	writeJSONL(t, many, docs)
	writeJSONL(t, few, docs[:30])
	for _, c := range []struct {
		config Config
		docs   int
	}{
		{Config{Inputs: []string{many}, Decide: Similarity{Candidates: LSH{}}}, n},
		{Config{Inputs: []string{many}}, n},
		{Config{Inputs: []string{few}, BucketCap: 20, Decide: Similarity{Verify: recipe.Sketch}}, 30},
		{Config{Inputs: []string{few}, BucketCap: 20, Decide: Similarity{Candidates: Bands{Bands: 20, Rows: 5, MinBands: 2}}}, 30},
	} {
		var notices []string
		c.config.OnNotice = func(notice Notice) { notices = append(notices, notice.String()) }
		s, err := Pairs(context.Background(), c.config, func(Pair) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(notices) != 1 || !strings.Contains(notices[0], fmt.Sprintf(": %d were compared", c.docs)) {
			t.Errorf("notices %q, want one of %d documents", notices, c.docs)
		}
		if most := int64(16 * lsh.Hubs * c.docs); s.Candidates > most {
			t.Errorf("%d candidates, want %d at most", s.Candidates, most)
		}
	}
}
