package runner

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/stage"
)

// words returns a text of n words.
func words(rng *rand.Rand, n int) []string {
	w := make([]string, n)
	for i := range w {
		w[i] = fmt.Sprintf("w%d", rng.IntN(5000))
	}
	return w
}

// hotCorpus writes files of records that are hard: exact copies, texts made of a template,
// near-copies of one text, empty texts, and ids that are missing, empty or there twice.
func hotCorpus(t *testing.T, copies, template, near, files int) (folder string) {
	rng := rand.New(rand.NewPCG(7, 7))
	var lines []string
	add := func(text string) {
		n := len(lines)
		record := map[string]any{"text": text, "id": fmt.Sprintf("d%d", n), "score": rng.IntN(50), "group": []string{"one", "", "a, \"b\""}[n*n%7%3]}
		switch n % 97 {
		case 3:
			delete(record, "id")
		case 5:
			record["id"] = ""
		case 11:
			record["id"] = "d4" // there twice, and more
		case 17:
			delete(record, "score")
		case 23:
			record["score"] = "a, \"b\""
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if lines = append(lines, string(line)); n%211 == 13 {
			lines = append(lines, `{"text": broken`)
		}
	}
	same, base, frame := strings.Join(words(rng, 80), " "), words(rng, 120), words(rng, 100)
	total := []int{copies, template, near, near / 4, 5}
	for left := copies + template + near + near/4 + 5; left > 0; {
		kind := rng.IntN(len(total))
		if total[kind] == 0 {
			continue
		}
		total[kind]--
		left--
		switch kind {
		case 0:
			add(same)
		case 1:
			w := append([]string{}, frame...)
			for i := range 6 {
				w[17*i] = fmt.Sprintf("v%d", rng.IntN(1000))
			}
			add(strings.Join(w, " "))
		case 2:
			w := append([]string{}, base...)
			for range rng.IntN(4) {
				w[rng.IntN(len(w))] = fmt.Sprintf("u%d", rng.IntN(1000))
			}
			add(strings.Join(w, " "))
		case 3:
			add(strings.Join(words(rng, 30), " "))
		default:
			add(" ")
		}
	}
	folder = t.TempDir()
	for i := range files {
		from, to := len(lines)*i/files, len(lines)*(i+1)/files
		name := filepath.Join(folder, fmt.Sprintf("part-%d.jsonl", i))
		if err := os.WriteFile(name, []byte(strings.Join(lines[from:to], "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// output reads all files of a folder but the summary, and what processes that were killed have
// left under temporary names.
func output(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == dedup.SummaryFile || strings.HasPrefix(d.Name(), ".alike-") {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		content, err := os.ReadFile(path)
		all[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares outputs.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			g, w := strings.Split(got[name], "\n"), strings.Split(want[name], "\n")
			for i := range w {
				if i >= len(g) || g[i] != w[i] {
					t.Errorf("%s: %d lines, want %d; line %d differs: %.200q, want %.200q", name, len(g), len(w), i+1, strings.Join(g[min(i, len(g)):min(i+1, len(g))], ""), w[i])
					break
				}
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// makePlan makes a plan, and reads it again.
func makePlan(t *testing.T, c dedup.Config, o PlanOptions) *Plan {
	t.Helper()
	if len(o.Engine) == 0 {
		o.Work = t.TempDir()
	}
	p, err := Make(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Load(bytes.NewReader(jsonOf(t, p))); err != nil {
		t.Fatal(err)
	}
	return p
}

// joined returns the plan with its stages joined, and as many tasks by documents.
func joined(t *testing.T, p *Plan) *Plan {
	t.Helper()
	p.Partitions, p.Joined, p.Digest = 1, true, ""
	if err := p.Settle(); err != nil {
		t.Fatal(err)
	}
	return p
}

func jsonOf(t *testing.T, p *Plan) []byte {
	t.Helper()
	line, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

var noContext = context.Background()

// runAll runs all tasks of all stages.
func runAll(t *testing.T, p *Plan, o Options) (s *Summary) {
	t.Helper()
	var err error
	for _, of := range p.Stages() {
		for task := range of.Tasks {
			if s, err = Run(context.Background(), p, of.Name, task, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func plainDedup(t *testing.T, c dedup.Config) map[string]string {
	t.Helper()
	c.Output, c.Decide = filepath.Join(t.TempDir(), "out"), dedup.Similarity{Candidates: dedup.LSH{}}
	if _, err := dedup.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return output(t, c.Output)
}

func TestDedupByStagesIsThatOfOneMachine(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 30, 120, 90, 5)}}
	c.BucketCap = 60
	for rule, partitions := range map[string]int{"first": 16, "last": 1, "longest": 5, "shortest": 1, "max:score": 5, "min:score": 1} {
		t.Run(fmt.Sprintf("keep %s in %d partitions", rule, partitions), func(t *testing.T) {
			keep, err := cluster.ParseKeep(rule)
			if err != nil {
				t.Fatal(err)
			}
			c.Survivors = dedup.OnePerCluster{Keep: keep}
			p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: partitions})
			runAll(t, p, Options{})
			same(t, output(t, p.Output), plainDedup(t, c))
		})
	}
}

func TestPairsByStagesAreThoseOfOneMachine(t *testing.T) {
	c := dedup.Config{Inputs: []string{hotCorpus(t, 30, 120, 90, 5)}, Decide: dedup.Similarity{Candidates: dedup.LSH{}}}
	for limit, partitions := range map[int][]int{0: {16}, 20: {1, 7}, 3: {2}} {
		c.BucketCap = limit
		want, plain := plainPairs(t, c)
		if capped := plain.BucketsCapped; (capped > 0) != (limit > 0) {
			t.Fatalf("cap %d: %d buckets are over it", limit, capped)
		}
		for _, n := range partitions {
			t.Run(fmt.Sprintf("cap %d, %d partitions", limit, n), func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "out")
				p := makePlan(t, c, PlanOptions{Command: stage.Pairs, Output: filepath.Join(folder, "pairs.csv"), Partitions: n})
				s := runAll(t, p, Options{})
				same(t, output(t, folder), map[string]string{"pairs.csv": want})
				sameRecall(t, s, plain)
			})
		}
	}
}

// sameRecall checks that a plan promises what one machine does, down to no more than that where documents are missed.
func sameRecall(t *testing.T, got *Summary, want *dedup.Summary) {
	t.Helper()
	g, w := got.ExpectedRecall, want.ExpectedRecall
	if g.High != w.High || g.Range != w.Range || g.Range != (got.Missed > 0) || g.Low > w.Low || !g.Range && g.Low != w.Low {
		t.Errorf("expected recall %v of a plan, %v of one machine, %d documents missed", g, w, got.Missed)
	}
}

// plainPairs returns the list of pairs of one machine, and its summary.
func plainPairs(t *testing.T, c dedup.Config) (list string, s *dedup.Summary) {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,similarity\n")
	text := csv.NewWriter(&b)
	s, err := dedup.Pairs(t.Context(), c, func(p dedup.Pair) error {
		return text.Write([]string{string(p.A), string(p.B), string(measure.AppendSimilarity(nil, p.Similarity))})
	})
	if err != nil {
		t.Fatal(err)
	}
	text.Flush()
	return b.String(), s
}
