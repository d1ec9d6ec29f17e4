package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/stage"
)

// quoting writes files of records in which texts quote parts of other ones, and several are in many.
func quoting(t *testing.T, files int) (folder string) {
	rng := rand.New(rand.NewPCG(3, 5))
	boiler := words(rng, 40)
	var texts [][]string
	for i := range 160 {
		w := words(rng, 20+rng.IntN(60))
		switch i % 4 {
		case 1:
			of := texts[rng.IntN(len(texts))]
			from := rng.IntN(len(of) / 2)
			w = append(append([]string{}, of[from:from+len(of)/2]...), w[:rng.IntN(8)]...)
		case 2:
			w = append(append([]string{}, texts[rng.IntN(len(texts))]...), w...)
		case 3:
			if w = append(append([]string{}, boiler...), w[:rng.IntN(6)]...); i%8 == 3 {
				w = boiler[:10+rng.IntN(30)]
			}
		}
		texts = append(texts, w)
	}
	folder = t.TempDir()
	for i := range files {
		var b strings.Builder
		for n := len(texts) * i / files; n < len(texts)*(i+1)/files; n++ {
			fmt.Fprintf(&b, "{\"id\":\"q%d\",\"score\":%d,\"text\":%q}\n", n, rng.IntN(9), strings.Join(texts[n], " "))
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.jsonl", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// ways are the ways in which documents are compared, beside those of the other tests.
func ways() map[string]func(c *dedup.Config) {
	by := func(m measure.Measure, threshold float64, limit int, candidates dedup.Candidates) func(c *dedup.Config) {
		return func(c *dedup.Config) {
			c.Decide, c.BucketCap = dedup.Similarity{Measure: m, Threshold: threshold, Candidates: candidates}, limit
		}
	}
	hamming := func(distance, limit int) func(c *dedup.Config) {
		return func(c *dedup.Config) {
			c.Signatures, c.Decide = dedup.OfShingles{Scheme: recipe.SimHash(simhash.Default())}, dedup.Distance(distance)
			c.BucketCap = limit
		}
	}
	return map[string]func(c *dedup.Config){
		"containment":                by(measure.Containment, 0.8, 0, dedup.LSH{}),
		"containment, a low cap":     by(measure.Containment, 0.6, 5, dedup.LSH{}),
		"max-containment, a low cap": by(measure.MaxContainment, 0.7, 8, dedup.LSH{}),
		"containment, exact":         by(measure.Containment, 0.5, 0, dedup.Exact{}),
		"jaccard, exact":             by(measure.Jaccard, 0.4, 0, dedup.Exact{}),
		"a distance":                 hamming(6, 0),
		"a distance, a low cap":      hamming(9, 4),
		"a far distance, a low cap":  hamming(20, 2),
	}
}

func TestPairsOfEveryWayAreThoseOfOneMachine(t *testing.T) {
	all := ways()
	all["signatures, a low cap"] = func(c *dedup.Config) {
		c.Decide, c.BucketCap = dedup.Similarity{Threshold: 0.5, Verify: recipe.Sketch, Candidates: dedup.LSH{}}, 6
	}
	all["overlap"] = func(c *dedup.Config) { c.Decide = dedup.Similarity{Measure: measure.Overlap, Threshold: 8} }
	all["overlap, exact"] = func(c *dedup.Config) {
		c.Decide = dedup.Similarity{Measure: measure.Overlap, Threshold: 20, Candidates: dedup.Exact{}}
		c.BucketCap = 10
	}
	missing := 0 // runs that say that pairs may be missing
	for partitions, folder := range map[int]string{4: quoting(t, 2), 1: hotCorpus(t, 30, 60, 40, 2)} {
		for name, set := range all {
			c := dedup.Config{Inputs: []string{folder}}
			set(&c)
			want, plain := plainPairs(t, c)
			if strings.Count(want, "\n") < 10 {
				t.Errorf("%s: only\n%s", name, want)
			}
			t.Run(fmt.Sprintf("%s in %d partitions", name, partitions), func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				p := makePlan(t, c, PlanOptions{Command: stage.Pairs, Output: filepath.Join(out, "pairs.csv"), Partitions: partitions})
				s := runAll(t, p, Options{})
				same(t, output(t, out), map[string]string{"pairs.csv": want})
				sameRecall(t, s, plain)
				if s.ExpectedRecall.Range {
					missing++
				}
			})
		}
	}
	if missing == 0 {
		t.Error("no run misses documents")
	}
}

func TestDedupOfEveryWayIsThatOfOneMachine(t *testing.T) {
	all := ways()
	all["jaccard"] = func(c *dedup.Config) {
		c.Decide, c.BucketCap = dedup.Similarity{Threshold: 0.5, Candidates: dedup.LSH{}}, 20
	}
	quotes, copies := quoting(t, 2), hotCorpus(t, 30, 60, 40, 2)
	for name, set := range all {
		for _, of := range []struct {
			corpus, against string
			star            bool
		}{{quotes, quoting(t, 1), true}, {copies, hotCorpus(t, 4, 8, 5, 1), false}} {
			t.Run(fmt.Sprintf("%s, star %v", name, of.star), func(t *testing.T) {
				c := dedup.Config{Inputs: []string{of.corpus}, Beside: dedup.Against{of.against}, Survivors: dedup.OnePerCluster{Star: of.star}}
				set(&c)
				p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 3})
				if !of.star {
					p = joined(t, p)
				}
				runAll(t, p, Options{})
				c.Output = filepath.Join(t.TempDir(), "plain")
				s, err := dedup.Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if s.Removed == 0 {
					t.Error("nothing is removed")
				}
				same(t, output(t, p.Output), output(t, c.Output))
			})
		}
	}
}

func TestWithinValuesStagesFindWhatOneMachineFinds(t *testing.T) {
	all := ways()
	all["jaccard"] = func(c *dedup.Config) {
		c.Decide, c.BucketCap = dedup.Similarity{Threshold: 0.5, Candidates: dedup.LSH{}}, 20
	}
	folder, references := hotCorpus(t, 30, 60, 40, 2), hotCorpus(t, 4, 8, 5, 1)
	for name, set := range all {
		t.Run(name, func(t *testing.T) {
			c := dedup.Config{Inputs: []string{folder}}
			set(&c)
			everywhere, _ := plainPairs(t, c)
			c.Within = "group"
			want, _ := plainPairs(t, c)
			if n := strings.Count(want, "\n"); n < 10 || n >= strings.Count(everywhere, "\n") {
				t.Errorf("%d pairs", n)
			}
			out := filepath.Join(t.TempDir(), "out")
			p := makePlan(t, c, PlanOptions{Command: stage.Pairs, Output: filepath.Join(out, "pairs.csv"), Partitions: 3})
			runAll(t, p, Options{})
			same(t, output(t, out), map[string]string{"pairs.csv": want})

			keep, err := cluster.ParseKeep("max:score")
			if err != nil {
				t.Fatal(err)
			}
			c.Beside, c.Survivors = dedup.Against{references}, dedup.OnePerCluster{Keep: keep}
			p = makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 3})
			runAll(t, p, Options{})
			c.Output = filepath.Join(t.TempDir(), "plain")
			if _, err := dedup.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			same(t, output(t, p.Output), output(t, c.Output))
		})
	}
}

// valued makes files of documents with so many values that a task cannot hold all of their counts, some of them long, and
// with ids that repeat.
func valued(t *testing.T) (inputs, references string) {
	folder := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 1))
	for file, documents := range []int{16000, 9000} {
		var b bytes.Buffer
		for n := range documents {
			value := any(fmt.Sprintf("v%d", rng.IntN(60000)))
			switch rng.IntN(20) {
			case 0:
				value = nil
			case 1:
				value = "often"
			case 2:
				value = strings.Repeat("long", 64+rng.IntN(2))
			case 3:
				value = rng.IntN(10)
			}
			line, err := json.Marshal(map[string]any{
				"id": fmt.Sprintf("%d-%d", file*min(rng.IntN(30), 1), n), "of": map[string]any{"value": value}, "text": fmt.Sprintf("this is text %d of a few", rng.IntN(40)),
			})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.jsonl", file)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	references = filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(references, []byte(`{"id":"r","of":{"value":"often"},"text":"this is text 3 of a few"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, references
}

func TestStagesCountByValueAsOneMachineDoes(t *testing.T) {
	folder, references := valued(t)
	c := dedup.Config{Inputs: []string{folder}, Within: "of.value", Decide: dedup.Similarity{Candidates: dedup.LSH{}}}
	check := func(got *Summary, want *dedup.Summary, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		g, _ := json.Marshal(got.Within)
		w, _ := json.Marshal(want.Within)
		if want.Within.Others == nil || string(g) != string(w) {
			t.Errorf("by value %.300s, want %.300s, others %v and %v", g, w, got.Within.Others, want.Within.Others)
		}
	}
	p := makePlan(t, c, PlanOptions{Command: stage.Pairs, Output: filepath.Join(t.TempDir(), "pairs.csv"), Partitions: 2})
	got := runAll(t, p, Options{})
	want, err := dedup.Pairs(t.Context(), c, func(dedup.Pair) error { return nil })
	check(got, want, err)
	if want.Within.Values[0].Pairs == 0 {
		t.Error("no pairs")
	}
	c.Beside = dedup.Against{references}
	p = makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 2})
	got = runAll(t, p, Options{})
	c.Output = filepath.Join(t.TempDir(), "plain")
	want, err = dedup.Run(t.Context(), c)
	check(got, want, err)
}

func TestFilesOfOneDocumentAreListedAsOnOneMachine(t *testing.T) {
	folder := quoting(t, 1)
	for i := range 30 {
		text := strings.Join(words(rand.New(rand.NewPCG(uint64(i%12), 1)), 30), " ")
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("a %d\n.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := dedup.Config{Inputs: []string{folder}}
	p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: 4})
	runAll(t, p, Options{})
	got := output(t, p.Output)
	if strings.Count(got[dedup.KeptList], "\n") != 12 {
		t.Errorf("12 different files are kept, and listed:\n%s", got[dedup.KeptList])
	}
	same(t, got, plainDedup(t, c))
}
