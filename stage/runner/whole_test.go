package runner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/text"
)

// passages writes texts that are in one frame, each with one to three of some passages: some stand wholly in others, and
// some share a part only.
func passages(t *testing.T, texts, files int) (folder string) {
	rng := rand.New(rand.NewPCG(3, 3))
	frame := strings.Join(words(rng, 30), " ")
	parts := make([]string, texts/4)
	for i := range parts {
		parts[i] = strings.Join(words(rng, 40), " ")
	}
	folder = t.TempDir()
	for file := range files {
		var lines strings.Builder
		for i := file; i < texts; i += files {
			of := []string{frame}
			for k := range 1 + rng.IntN(3) {
				of = append(of, parts[(i+k*k)%len(parts)])
			}
			line, err := json.Marshal(map[string]any{"id": fmt.Sprintf("d%d", i), "text": strings.Join(of, " ")})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.jsonl", file)), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestWholeTextsGoByStagesAsOnOneMachine(t *testing.T) {
	folder := passages(t, 240, 5)
	for name, c := range map[string]struct {
		decide     dedup.Similarity
		n, limit   int
		references bool
		partitions int
	}{
		"by words":                      {dedup.Similarity{Threshold: 0.3, Candidates: dedup.LSH{}}, 2, 0, false, 5},
		"with hot buckets":              {dedup.Similarity{Threshold: 0.2, Candidates: dedup.LSH{}}, 1, 20, false, 1},
		"by containment":                {dedup.Similarity{Measure: measure.MaxContainment, Threshold: 0.4, Candidates: dedup.LSH{}}, 3, 0, false, 5},
		"by containment of one":         {dedup.Similarity{Measure: measure.Containment, Threshold: 0.4, Candidates: dedup.LSH{}}, 3, 0, false, 3},
		"of references":                 {dedup.Similarity{Threshold: 0.3, Candidates: dedup.LSH{}}, 2, 0, true, 5},
		"all sets joined":               {dedup.Similarity{Threshold: 0.3, Candidates: dedup.Exact{}}, 2, 0, false, 6},
		"all sets joined, containment":  {dedup.Similarity{Measure: measure.MaxContainment, Threshold: 0.4, Candidates: dedup.Exact{}}, 2, 0, false, 3},
		"by cosine, in buckets of many": {dedup.Similarity{Measure: measure.Cosine, Threshold: 0.3, Candidates: dedup.LSH{}}, 2, 10, false, 4},
	} {
		t.Run(name, func(t *testing.T) {
			config := dedup.Config{Inputs: []string{folder}, Decide: c.decide, Survivors: dedup.OnePerCluster{Whole: true}}
			config.Corpus.IDField = "id"
			config.BucketCap = c.limit
			config.Signatures = dedup.OfShingles{Options: shingle.Options{N: c.n, Text: text.Options{}}}
			if c.references {
				config.Inputs = []string{filepath.Join(folder, "part-[0-3].jsonl")}
				config.Beside = dedup.Against{filepath.Join(folder, "part-4.jsonl")}
			}
			p := makePlan(t, config, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: c.partitions})
			got := runAll(t, p, Options{})
			config.Output = filepath.Join(t.TempDir(), "plain")
			want, err := dedup.Run(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if *want.Partial == 0 || want.Removed < 10 || *got.Partial != *want.Partial {
				t.Errorf("%d pairs are partial, want %d, and %d texts go", *got.Partial, *want.Partial, want.Removed)
			}
			same(t, output(t, p.Output), output(t, config.Output))
			p = joined(t, makePlan(t, config, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: c.partitions}))
			runAll(t, p, Options{})
			same(t, output(t, p.Output), output(t, config.Output))
		})
	}
}
