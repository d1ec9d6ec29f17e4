package dedup

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/measure"
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

// slowWhole removes documents, largest first, for those that they stand in.
func slowWhole(docs []testDoc, all []similarPair, size func(doc int) int) (removed map[int]int, partial int) {
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
	slices.SortStableFunc(order, func(a, b int) int { return size(b) - size(a) })
	var judge places.Judge
	left := map[[2]int]bool{}
	for _, p := range all {
		stands := func(a, b int) bool {
			return size(a) > size(b) || judge.Stands(texts[a], texts[b]) >= places.WholeShare
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
		runs := runsOf(docs)
		want, partial := slowWhole(docs, all, func(doc int) int { return len(runs[doc]) })
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

// runsOf returns the runs of eight characters of each text.
func runsOf(docs []testDoc) []map[string]bool {
	all := make([]map[string]bool, len(docs))
	for i, d := range docs {
		all[i] = map[string]bool{}
		for at := range len(d.text) - 7 {
			all[i][d.text[at:at+8]] = true
		}
	}
	return all
}

// A text that says a passage twice is longer than one that has more to say. By containment it goes for that one, with what
// is in there as the similarity; by a symmetric measure the longer one is kept.
func TestByContainmentWhatHasMoreFeaturesIsKeptWhole(t *testing.T) {
	docs, _ := neighbours(rand.New(rand.NewPCG(9, 6)), 20)
	for _, d := range docs[:len(docs):len(docs)] {
		cut := d.text[:len(d.text)*9/10]
		docs = append(docs, testDoc{fmt.Sprintf("n%d", len(docs)), cut + cut[len(cut)/2:]})
	}
	input := filepath.Join(t.TempDir(), "in.jsonl")
	writeJSONL(t, input, docs)
	runs := runsOf(docs)
	for name, c := range map[string]struct {
		measure measure.Measure
		retain  int64 // sets that are kept; 0: all
	}{
		"max-containment":                    {measure.MaxContainment, 0},
		"containment":                        {measure.Containment, 0},
		"containment, sets are made again":   {measure.Containment, 1},
		"by cosine the longer one is kept":   {measure.Cosine, 0},
		"cosine, although sets are not kept": {measure.Cosine, 1},
	} {
		t.Run(name, func(t *testing.T) {
			config := aboutPassages(input, false)
			bySimilarity(&config, func(s *Similarity) { s.Measure, s.Candidates = c.measure, Exact{} })
			size := func(doc int) int { return len(runs[doc]) }
			listed := config
			if c.measure == measure.Cosine {
				size = func(doc int) int { return len(docs[doc].text) }
			} else { // either way
				bySimilarity(&listed, func(s *Similarity) { s.Measure = measure.MaxContainment })
			}
			all, _ := pairsOf(t, listed)
			want, partial := slowWhole(docs, all, size)
			if config.limits.retain = c.retain; len(want) < len(docs)/3 || partial == 0 {
				t.Fatalf("%d of %d go, %d pairs are partial: no test", len(want), len(docs), partial)
			}
			config.Output, config.Survivors = filepath.Join(t.TempDir(), "out"), OnePerCluster{Whole: true}
			s, err := Run(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got := removedFor(t, config.Output); !maps.Equal(got, want) || *s.Partial != int64(partial) {
				t.Errorf("removed %v and %d partial, want %v and %d", got, *s.Partial, want, partial)
			}
			if c.measure == measure.Cosine {
				return
			}
			lines := "id,kept_id,similarity\n"
			for doc := range docs {
				if kept, is := want[doc]; is {
					common := 0
					for run := range runs[doc] {
						if runs[kept][run] {
							common++
						}
					}
					lines += fmt.Sprintf("n%d,n%d,%.6f\n", doc, kept, float64(common)/float64(len(runs[doc])))
				}
			}
			if got, err := os.ReadFile(filepath.Join(config.Output, "removed.csv")); err != nil || string(got) != lines {
				t.Errorf("%v, removed\n%swant\n%s", err, got, lines)
			}
		})
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
