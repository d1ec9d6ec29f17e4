package dedup

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// templated returns pages of a few templates, some of them copies with a word changed.
func templated(seed uint64, n int) (docs []testDoc) {
	rng := rand.New(rand.NewPCG(seed, 5))
	words := func(n int) string { return strings.Join(randomWords(rng, n, 3000), " ") }
	templates := []string{words(60), words(90), ""}
	for i := range n {
		text := templates[rng.IntN(len(templates))] + " " + words(10+rng.IntN(30))
		if i > 0 && rng.IntN(4) == 0 {
			text = docs[rng.IntN(i)].text
			if rng.IntN(2) == 0 {
				text += " more"
			}
		}
		docs = append(docs, testDoc{fmt.Sprintf("doc-%d", i), text})
	}
	return docs
}

// weighedPairs returns the lines of all pairs by the weighted Jaccard similarity, one pair after the other.
func weighedPairs(t *testing.T, docs []testDoc, threshold float64, by Rarity) (lines []string) {
	s, err := shingle.New(shingle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sets, df := make([]map[uint64]bool, len(docs)), map[uint64]int{}
	for i, d := range docs {
		sets[i] = map[uint64]bool{}
		for _, f := range s.AppendFeatures(nil, []byte(d.text)) {
			if !sets[i][f] {
				sets[i][f] = true
				df[f]++
			}
		}
	}
	n := float64(len(docs))
	weight := func(f uint64) uint64 {
		if by.Rare {
			return uint64(shingle.RareWeight(f, uint64(df[f]), cmp.Or(by.Most, shingle.RareMost(uint64(len(docs))))))
		}
		return uint64(max(1, math.Round(16*math.Log(n/float64(df[f]))/math.Log(n))))
	}
	limit, err := measure.NewThreshold(measure.Jaccard, threshold)
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		for j := range docs[i+1:] {
			var both, a, b uint64
			for f := range sets[i] {
				a += weight(f)
				if sets[i+1+j][f] {
					both += weight(f)
				}
			}
			for f := range sets[i+1+j] {
				b += weight(f)
			}
			if limit.Reached(both, a, b) {
				lines = append(lines, fmt.Sprintf("%s,%s,%.6f", docs[i].id, docs[i+1+j].id, measure.Jaccard.Similarity(both, a, b)))
			}
		}
	}
	return lines
}

func TestPairsByRarityAreThoseOfBruteForce(t *testing.T) {
	for _, threshold := range []float64{0.3, 0.8} {
		for _, by := range []Rarity{{}, {Rare: true}, {Rare: true, Most: 3}} {
			testPairsByRarity(t, threshold, by)
		}
	}
}

func testPairsByRarity(t *testing.T, threshold float64, by Rarity) {
	docs := templated(uint64(threshold*10), 150)
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	want := weighedPairs(t, docs, threshold, by)
	for name, c := range map[string]Config{
		"in memory": {Threads: 3},
		"on disk":   {Threads: 2, limits: limits{memory: 1 << 20}},
		"in blocks": {Threads: 1, limits: limits{text: 64}},
	} {
		c.Inputs, c.Signatures = []string{path}, OfShingles{Rarity: &by}
		c.Decide = Similarity{Threshold: threshold, Candidates: Exact{}}
		if got, _ := pairLines(t, c); !slices.Equal(got, want) {
			t.Errorf("threshold %v, %v, %s: %d pairs, want %d", threshold, by, name, len(got), len(want))
		}
	}
	c := Config{Inputs: []string{path}, Signatures: OfShingles{Rarity: &by}, Decide: Similarity{Threshold: threshold, Candidates: LSH{}}}
	banded, _ := pairLines(t, c)
	for _, line := range banded {
		if !slices.Contains(want, line) {
			t.Errorf("by bands %s, which is not among all pairs", line)
		}
	}
	if len(banded) < len(want)*9/10 {
		t.Errorf("by bands %d pairs of %d", len(banded), len(want))
	}
}

// A template alone makes no documents alike, and copies are removed all the same.
func TestATemplateAloneRemovesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	template := strings.Join(randomWords(rng, 300, 5000), " ")
	var docs []testDoc
	for i := range 100 {
		docs = append(docs, testDoc{fmt.Sprint(i), template + " " + strings.Join(randomWords(rng, 20, 5000), " ")})
	}
	docs = append(docs, testDoc{"copy", docs[7].text})
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, docs)
	plain, _ := pairLines(t, Config{Inputs: []string{path}})
	if len(plain) < 1000 {
		t.Fatalf("%d pairs without weights: the template is too small for this test", len(plain))
	}
	for _, sketch := range []*countmin.Options{nil, {Epsilon: 1e-4}} {
		out := filepath.Join(t.TempDir(), "out")
		summary, err := Run(t.Context(), Config{Inputs: []string{path}, Output: out, Signatures: OfShingles{Rarity: &Rarity{Sketch: sketch}}})
		if err != nil {
			t.Fatal(err)
		}
		if summary.Removed != 1 || !strings.Contains(tree(t, out)[RemovedFile], "copy,7,1.000000") {
			t.Errorf("sketch %v: %d removed:\n%s", sketch, summary.Removed, tree(t, out)[RemovedFile])
		}
	}
}

func TestEstimatedWeightsAreTheSameForAnyThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, templated(9, 300))
	var want []string
	for _, threads := range []int{1, 2, 7} {
		c := Config{
			Inputs: []string{path}, Threads: threads, Signatures: OfShingles{Rarity: &Rarity{Sketch: &countmin.Options{Epsilon: 0.01}}},
			Decide: Similarity{Threshold: 0.3},
		}
		c.Corpus.BlockSize = 4 << 10
		got, _ := pairLines(t, c)
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%d threads: %d pairs, by one %d", threads, len(got), len(want))
		}
	}
}

func TestRarityIsRefusedWhereItSaysNothing(t *testing.T) {
	ofRarity := OfShingles{Rarity: &Rarity{}}
	for want, c := range map[string]Config{
		"fingerprints decide": {Decide: Distance(3), Signatures: OfShingles{Scheme: recipe.SimHash(simhash.Default()), Rarity: &Rarity{}}},
		"counts shingles":     {Decide: Similarity{Measure: measure.Overlap, Threshold: 3}, Signatures: ofRarity},
		"conservative":        {Signatures: OfShingles{Rarity: &Rarity{Sketch: &countmin.Options{Conservative: true}}}},
		"epsilon":             {Signatures: OfShingles{Rarity: &Rarity{Sketch: &countmin.Options{Epsilon: 7}}}},
	} {
		c.Inputs = []string{"in"}
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %q: %v", want, err)
		}
	}
	if _, err := (Config{Inputs: []string{"in"}, Signatures: ofRarity}).SketchRecipe(); err == nil {
		t.Error("signatures of weighted sets were made, which another run could not compare")
	}
}

// Too many shingles of several documents are an error that says what to do.
func TestMoreFrequentShinglesThanMemoryAreAnError(t *testing.T) {
	docs := generate(4, 300)
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	writeJSONL(t, path, append(docs, renamed(docs)...))
	_, err := Pairs(t.Context(), Config{Inputs: []string{path}, Signatures: OfShingles{Rarity: &Rarity{}}, limits: limits{memory: 64 << 10}}, func(Pair) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "sketch") {
		t.Errorf("want an error that names the sketch: %v", err)
	}
}

func renamed(docs []testDoc) (again []testDoc) {
	for _, d := range docs {
		again = append(again, testDoc{"again-" + d.id, d.text})
	}
	return again
}
