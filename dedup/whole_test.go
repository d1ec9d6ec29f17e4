package dedup

import (
	"context"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/shingle"
)

// removedFor returns what each removed document was removed for.
func removedFor(t *testing.T, folder string) map[int]int {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, "removed.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	removed := map[int]int{}
	for _, row := range rows[1:] {
		removed[numberOf([]byte(row[0]))] = numberOf([]byte(row[1]))
	}
	return removed
}

// slowWhole removes documents, longest first, for those that they stand in.
func slowWhole(docs []testDoc, all []similarPair) (removed map[int]int, partial int) {
	plain := places.NewReader(shingle.Options{})
	var read []*places.Text
	for _, d := range docs {
		read = append(read, plain.Read([]byte(d.text)))
	}
	reader := places.NewWholeReader(shingle.Options{}, places.NewCommon(read, len(read)))
	texts := make([]*places.Text, len(docs))
	order := make([]int, len(docs))
	for i, d := range docs {
		texts[i], order[i] = reader.Read([]byte(d.text)), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(docs[b].text) - len(docs[a].text) })
	var judge places.Judge
	left := map[[2]int]bool{}
	for _, p := range all {
		stands := func(a, b int) bool {
			return len(docs[a].text) > len(docs[b].text) || judge.Stands(texts[a], texts[b]) >= places.WholeShare
		}
		if stands(p.a, p.b) && stands(p.b, p.a) {
			left[[2]int{p.a, p.b}] = true
		} else {
			partial++
		}
	}
	removed = map[int]int{}
	kept := map[int]bool{}
	for _, centre := range order {
		if _, is := removed[centre]; is {
			continue
		}
		kept[centre] = true
		for doc := range docs {
			_, is := removed[doc]
			if !is && !kept[doc] && left[[2]int{min(doc, centre), max(doc, centre)}] {
				removed[doc] = centre
			}
		}
	}
	return removed, partial
}

func TestOnlyWhatStandsInAKeptTextIsRemoved(t *testing.T) {
	lost, removedAll := 0, 0
	for seed := range uint64(4) {
		docs, article := neighbours(rand.New(rand.NewPCG(seed, 6)), 30)
		input := filepath.Join(t.TempDir(), "in.jsonl")
		writeJSONL(t, input, docs)
		all, _ := pairsOf(t, aboutPassages(input, false))
		want, partial := slowWhole(docs, all)
		c := aboutPassages(input, false)
		c.Output, c.Survivors = filepath.Join(t.TempDir(), "out"), OnePerCluster{Whole: true}
		s, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		got := removedFor(t, c.Output)
		if len(got) != len(want) {
			t.Fatalf("%d are removed, want %d", len(got), len(want))
		}
		for doc, kept := range want {
			if got[doc] != kept {
				t.Errorf("%d is removed for %d, want %d", doc, got[doc], kept)
			}
		}
		if s.Partial == nil || *s.Partial != int64(partial) || partial == 0 {
			t.Errorf("%v partial, want %d", s.Partial, partial)
		}
		left := map[int]bool{}
		for doc := range docs {
			if _, is := got[doc]; !is {
				left[article[doc]] = true
			}
		}
		lost += 30 - len(left)
		removedAll += len(got)
	}
	if lost > 0 || removedAll < 100 {
		t.Errorf("%d articles are lost, and %d texts removed", lost, removedAll)
	}
}

// A reference stays, however long a text is that stands in it or not.
func TestReferencesAreKeptForWhatStandsInThem(t *testing.T) {
	docs, _ := neighbours(rand.New(rand.NewPCG(1, 7)), 2)
	own, other := docs[0].text, docs[len(docs)-1].text
	dir := t.TempDir()
	input, references := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "refs.jsonl")
	writeJSONL(t, input, []testDoc{{"n0", own + " " + other}, {"n1", own[:len(own)*9/10]}, {"n2", own + " and a few words more"}})
	writeJSONL(t, references, []testDoc{{"n9", own}})
	c := aboutPassages(input, false)
	c.Beside, c.Output, c.Survivors = Against{references}, filepath.Join(dir, "out"), OnePerCluster{Whole: true}
	c.Corpus.IDField = "id"
	bySimilarity(&c, func(s *Similarity) { s.Measure = 0 })
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if got := removedFor(t, c.Output); len(got) != 2 || got[1] != 9 || got[2] != 9 {
		t.Errorf("removed %v", got)
	}
}

func TestWholeTextsNeedTextsAndAllOfARun(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"estimates":    func(c *Config) { bySimilarity(c, func(s *Similarity) { s.Verify = "sketch" }) },
		"fingerprints": func(c *Config) { c.Fingerprints = true },
	} {
		c := Config{Inputs: []string{"in"}, Survivors: OnePerCluster{Whole: true}}
		change(&c)
		if err := c.Validate(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "Whole") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
