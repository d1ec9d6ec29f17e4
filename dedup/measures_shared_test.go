package dedup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/measure"
)

// sharedDocs are documents of real data, as many as every pair can be compared of.
func sharedDocs(t *testing.T, name string) (docs []testDoc) {
	if name == "wiki_folders" {
		dir, _ := broderFolders(t, "verysmall")
		paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, testDoc{fmt.Sprint(i), strings.ToValidUTF8(string(text), " ")})
		}
		return docs
	}
	for _, d := range shareddata.Docs(t, 3<<20, name, "docs.jsonl.zst") {
		docs = append(docs, testDoc{d.ID, d.Text})
	}
	return docs
}

func TestContainmentKeepsItsPromiseOnRealData(t *testing.T) {
	if testsize.Small() {
		t.Skip("comparing all with all takes minutes under the race detector")
	}
	for _, name := range []string{"ir_plag", "versioned_etcd", "wiki_folders"} {
		t.Run(name, func(t *testing.T) {
			docs := sharedDocs(t, name)
			sets := weighted(t, docs)
			path := filepath.Join(t.TempDir(), "docs.jsonl")
			writeJSONL(t, path, docs)
			for _, value := range []float64{0.1, 0.8} {
				want := pairsByDefinition(docs, sets, mustThreshold(t, measure.Containment, value))
				c := Config{Inputs: []string{path}, Decide: Similarity{Measure: measure.Containment, Threshold: value, Candidates: Exact{}}}
				got, _ := pairLines(t, c)
				if !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("at %v: %d pairs, want %d, or others", value, len(got), len(want))
				}
				c.limits.retain = 1
				if got, _ := pairLines(t, c); !slices.Equal(got, want) {
					t.Errorf("at %v, by the rarest features: %d pairs, want %d, or others", value, len(got), len(want))
				}
				c.limits.retain, c.limits.index = 0, 1<<16
				if got, _ := pairLines(t, c); !slices.Equal(got, want) {
					t.Errorf("at %v, by chunks: %d pairs, want %d, or others", value, len(got), len(want))
				}
				bySimilarity(&c, func(s *Similarity) { s.Candidates = LSH{} })
				got, s := pairLines(t, c)
				found := map[string]bool{}
				for _, line := range want {
					found[line] = true
				}
				if i := slices.IndexFunc(got, func(line string) bool { return !found[line] }); i >= 0 {
					t.Errorf("at %v, by samples: %s is no pair", value, got[i])
				}
				if recall := float64(len(got)) / float64(len(want)); recall < DefaultRecall || s.Sample == 0 {
					t.Errorf("at %v, by samples: recall %v of %d pairs", value, recall, len(want))
				}
			}
		})
	}
}

// Of the pairs of real data, bands find the share that was asked for at the threshold,
// and more, since most pairs are above it.
func TestBandsKeepTheirRecallOnRealData(t *testing.T) {
	if testsize.Small() {
		t.Skip("recall does not depend on the race detector")
	}
	for _, name := range []string{"versioned_etcd", "bbc_news"} {
		for _, m := range []measure.Measure{measure.Cosine, measure.Dice, measure.WeightedJaccard} {
			t.Run(name+"/"+m.String(), func(t *testing.T) {
				docs := sharedDocs(t, name)
				path := filepath.Join(t.TempDir(), "docs.jsonl")
				writeJSONL(t, path, docs)
				c := Config{Inputs: []string{path}, Decide: Similarity{Measure: m, Threshold: 0.7, Candidates: Exact{}}}
				want, _ := pairLines(t, c)
				bySimilarity(&c, func(s *Similarity) { s.Candidates = LSH{} })
				got, s := pairLines(t, c)
				found := map[string]bool{}
				for _, line := range want {
					found[line] = true
				}
				if i := slices.IndexFunc(got, func(line string) bool { return !found[line] }); i >= 0 {
					t.Errorf("%s is no pair", got[i])
				}
				if recall := float64(len(got)) / float64(len(want)); recall < DefaultRecall || s.ExpectedRecall.Low < DefaultRecall {
					t.Errorf("recall %v of %d pairs, %v expected", recall, len(want), s.ExpectedRecall.Low)
				}
			})
		}
	}
}
