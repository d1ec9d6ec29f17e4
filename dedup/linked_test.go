package dedup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus"
)

// linkedTable writes a table of n records and returns its lines, with their ends.
func linkedTable(t *testing.T, folder string, n int) (path string, lines []string) {
	t.Helper()
	lines = []string{"key,name,grade\r\n"}
	for i := range n {
		lines = append(lines, fmt.Sprintf("k%d,\"name, %s\",%d\r\n", i, strings.Repeat("x", i%3), i%5))
	}
	path = filepath.Join(folder, "table.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

// linked is a configuration of a run by links.
func linked(path, output string, records int, links []Link) Config {
	return Config{
		Inputs: []string{path},
		Output: output,
		Corpus: corpus.Options{IDField: "key"},
		Decide: ByLinks(func(context.Context) (*Links, error) {
			return &Links{
				Records: records, All: slices.Values(links), Similarity: func(a, b uint32) float64 { return 0.25 },
				ID: func(record uint32) []byte { return fmt.Appendf(nil, "k%d", record) }, By: "a friend",
			}, nil
		}),
	}
}

func content(t rapid.TB, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestLinksDecideWhoGoes holds a run against components by hand: the first record of each, or
// the one with the longest values, stays, and its line byte for byte.
func TestLinksDecideWhoGoes(t *testing.T) {
	const n = 30
	folder := t.TempDir()
	path, lines := linkedTable(t, folder, n)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		label := make([]int, n)
		for i := range label {
			label[i] = i
		}
		var links []Link
		seen := map[[2]int]bool{}
		for range rapid.IntRange(0, 20).Draw(rt, "links") {
			a, b := rapid.IntRange(0, n-2).Draw(rt, "a"), rapid.IntRange(1, n-1).Draw(rt, "b")
			if a >= b || seen[[2]int{a, b}] {
				continue
			}
			seen[[2]int{a, b}] = true
			links = append(links, Link{uint32(a), uint32(b), 0.5})
			from, to := max(label[a], label[b]), min(label[a], label[b])
			for i := range label {
				if label[i] == from {
					label[i] = to
				}
			}
		}
		longest := rapid.Bool().Draw(rt, "longest")
		c := linked(path, filepath.Join(folder, fmt.Sprint("out", run)), n, links)
		if longest {
			c.Survivors = OnePerCluster{Keep: keepRule(t, "longest")}
			c.Corpus.Fields = []string{"name"}
		}
		s, err := Run(t.Context(), c)
		if err != nil {
			rt.Fatal(err)
		}
		keeps := map[int]int{} // by label
		for i := n - 1; i >= 0; i-- {
			if k, ok := keeps[label[i]]; !ok || !longest || i%3 >= k%3 {
				keeps[label[i]] = i
			}
		}
		want := lines[0]
		for i := range n {
			if keeps[label[i]] == i {
				want += lines[i+1]
			}
		}
		if got := content(rt, filepath.Join(c.Output, KeptFolder, "table.csv")); got != want {
			rt.Errorf("kept\n%s\nwant\n%s", got, want)
		}
		if s.Read != n || s.Kept+s.Removed != n || s.Decision != "a friend" || s.CandidateMethod != MethodRecords || s.Empty != 0 {
			rt.Errorf("the summary is %+v", s)
		}
		if err := os.RemoveAll(c.Output); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestTheSimilarityOfAChainIsAskedFor(t *testing.T) {
	path, _ := linkedTable(t, t.TempDir(), 3)
	c := linked(path, filepath.Join(t.TempDir(), "out"), 3, []Link{{1, 2, 0.75}, {0, 1, 0.5}})
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	const want = "id,kept_id,similarity\nk1,k0,0.500000\nk2,k0,0.250000\n"
	if got := content(t, filepath.Join(c.Output, RemovedFile)); got != want {
		t.Errorf("removed.csv is %q, want %q", got, want)
	}
	c.Output = filepath.Join(t.TempDir(), "out")
	onePerCluster(&c, func(s *OnePerCluster) { s.Star = true })
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	const wantStar = "id,kept_id,similarity\nk1,k0,0.500000\n"
	if got := content(t, filepath.Join(c.Output, RemovedFile)); got != wantStar {
		t.Errorf("of stars removed.csv is %q, want %q", got, wantStar)
	}
}

func TestATableThatHasChangedSinceItWasLinkedIsRefused(t *testing.T) {
	path, _ := linkedTable(t, t.TempDir(), 3)
	for name, change := range map[string]func(*Links){
		"another number of records": func(l *Links) { l.Records = 4 },
		"other ids":                 func(l *Links) { l.ID = func(uint32) []byte { return []byte("other") } },
	} {
		c := linked(path, filepath.Join(t.TempDir(), "out"), 3, []Link{{0, 1, 1}})
		link := c.Decide.(ByLinks)
		c.Decide = ByLinks(func(ctx context.Context) (*Links, error) {
			l, err := link(ctx)
			change(l)
			return l, err
		})
		if _, err := Run(t.Context(), c); !errors.Is(err, corpus.ErrChanged) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := os.Stat(c.Output); err == nil {
			t.Errorf("%s: there is an output", name)
		}
	}
}

func TestLinksExcludeWhatIsAboutTexts(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"references":   func(c *Config) { c.Beside = Against{"other.csv"} },
		"resume":       func(c *Config) { c.Work = WorkFolder{Path: "work"} },
		"fingerprints": func(c *Config) { c.Fingerprints = true },
	} {
		c := linked("table.csv", "out", 0, nil)
		change(&c)
		if err := c.Validate(); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
