package decontaminate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/report"
)

// question returns a question that no other number gives.
func question(n int) string {
	return fmt.Sprintf("A mill grinds %d sacks of rye in an hour, and its owner adds a second stone that grinds %d more. How many sacks of rye do both stones grind in a day of %d hours?", n+3, 2*n+1, n%9+4)
}

// corpusOf makes training files and an evaluation set: every fifth document has a question.
func corpusOf(t *testing.T, documents int) (train, evals string) {
	t.Helper()
	dir := t.TempDir()
	var docs, sets strings.Builder
	for n := range documents {
		text := strings.Repeat(fmt.Sprintf("Nothing of note was said in house %d that evening. ", n), 1+n%40)
		if n%5 == 0 {
			text += question(n) + " Nobody knew, and so they went to bed."
		}
		fmt.Fprintf(&docs, "{\"id\":\"d%d\",\"text\":%q}\n", n, text)
		fmt.Fprintf(&sets, "{\"id\":\"q%d\",\"question\":%q,\"answer\":\"%d sacks\"}\n", n, question(n), n)
	}
	train, evals = filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "set.jsonl")
	for path, content := range map[string]string{train: docs.String(), evals: sets.String()} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return train, evals
}

func config(t *testing.T, train, evals string) decontaminate.Config {
	c := decontaminate.Config{Page: report.Contamination}
	c.Inputs, c.Beside, c.Output = []string{train}, dedup.Against{evals}, filepath.Join(t.TempDir(), "out")
	c.Corpus.BlockSize = 4 << 10
	return c
}

// files returns the content of all files but the summary, which has times.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == dedup.SummaryFile {
			return err
		}
		content, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheOutputIsTheSameForAnyThreadsAndMemory(t *testing.T) {
	train, evals := corpusOf(t, 400)
	var first map[string]string
	for _, threads := range []int{1, 3, 8} {
		for _, memory := range []int64{0, 48 << 20} {
			c := config(t, train, evals)
			c.Threads, c.Memory = threads, memory
			s, err := decontaminate.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if s.Read != 400 || s.Documents != 80 || s.Removed != 80 || s.Kept != 320 || s.References != 400 {
				t.Fatalf("%+v", s)
			}
			got := files(t, c.Output)
			if first == nil {
				first = got
			}
			for name := range first {
				if got[name] != first[name] {
					t.Errorf("%d threads, %d bytes: %s differs", threads, memory, name)
				}
			}
		}
	}
}

func TestAnInterruptedRunContinues(t *testing.T) {
	train, evals := corpusOf(t, 400)
	whole := config(t, train, evals)
	if _, err := decontaminate.Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	c := config(t, train, evals)
	work := filepath.Join(t.TempDir(), "work")
	c.Work = dedup.WorkFolder{Path: work}
	ctx, cancel := context.WithCancel(t.Context())
	page := c.Page
	c.Page = func(io.Writer, *decontaminate.Page) error {
		cancel() // all is written but the summary
		return ctx.Err()
	}
	if _, err := decontaminate.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(c.Output, dedup.SummaryFile)); err == nil {
		t.Fatal("there is a summary")
	}
	c.Page = page
	other := c
	other.Threshold = 0.9
	if _, err := decontaminate.Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), "threshold") {
		t.Fatalf("another threshold: %v", err)
	}
	if _, err := decontaminate.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want, got := files(t, whole.Output), files(t, c.Output)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
}

func TestWrongUseIsRefused(t *testing.T) {
	train, evals := corpusOf(t, 5)
	none := config(t, train, evals)
	none.Beside = nil
	high := config(t, train, evals)
	high.Threshold = 1.5
	itself := config(t, train, evals)
	itself.Output = filepath.Dir(evals)
	for _, c := range []decontaminate.Config{none, high, itself} {
		if _, err := decontaminate.Run(t.Context(), c); err == nil {
			t.Errorf("%+v", c)
		}
	}
	columns := config(t, train, evals)
	columns.Columns.Question = "prompt"
	skipped := 0
	columns.OnSkip = func(p *corpus.Problem) { skipped++ }
	s, err := decontaminate.Run(t.Context(), columns)
	if err != nil || s.ReferencesSkipped != 5 || skipped != 5 || s.Removed != 0 {
		t.Errorf("%+v %v", s, err)
	}
}
