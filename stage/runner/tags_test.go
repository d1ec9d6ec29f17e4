package runner

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/stage"
)

// tagCorpus writes the records of a corpus in every format that carries tags.
func tagCorpus(t *testing.T) (folder string) {
	t.Helper()
	from := hotCorpus(t, 20, 60, 60, 4)
	folder = t.TempDir()
	parts, err := filepath.Glob(filepath.Join(from, "*.jsonl"))
	if err != nil || len(parts) != 4 {
		t.Fatal(parts, err)
	}
	type row struct {
		Text string  `parquet:"text"`
		ID   *string `parquet:"id,optional"`
		More int64   `parquet:"more"`
	}
	for i, part := range parts {
		raw, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		name := "a.jsonl"
		var rows []row
		for _, line := range strings.Split(string(raw), "\n") {
			var r struct{ ID, Text string }
			if json.Unmarshal([]byte(line), &r) == nil {
				rows = append(rows, row{r.Text, &r.ID, int64(len(rows))})
			}
		}
		switch i {
		case 0:
			out.Write(raw)
		case 1:
			name = "b.jsonl.gz"
			w := gzip.NewWriter(&out)
			_, _ = w.Write(raw)
			_ = w.Close()
		case 2:
			name = "c.csv"
			w := csv.NewWriter(&out)
			_ = w.Write([]string{"text", "id", "more, or less"})
			for _, r := range rows {
				_ = w.Write([]string{r.Text, *r.ID, fmt.Sprint(r.More)})
			}
			w.Flush()
		case 3:
			name = "d.parquet"
			w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(20))
			if _, err := w.Write(rows); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestTagsOfStagesAreThoseOfOneMachine(t *testing.T) {
	folder, references := tagCorpus(t), hotCorpus(t, 3, 20, 20, 2)
	for name, change := range map[string]func(c *dedup.Config){
		"alone":  func(*dedup.Config) {},
		"prefix": func(c *dedup.Config) { c.Tags = &dedup.Tags{Prefix: `my "own", `} },
		"star":   func(c *dedup.Config) { c.Survivors = dedup.OnePerCluster{Star: true} },
		"against": func(c *dedup.Config) {
			c.Beside = dedup.Against{references}
		},
	} {
		for _, partitions := range []int{1, 7} {
			c := dedup.Config{Inputs: []string{folder}, Tags: &dedup.Tags{}}
			change(&c)
			p := makePlan(t, c, PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Partitions: partitions})
			runAll(t, p, Options{})
			want := plainDedup(t, c)
			same(t, output(t, p.Output), want)
			if !strings.Contains(want["kept/a.jsonl"], `duplicate_of":"`) || len(want) < 6 {
				t.Errorf("%s: nothing is tagged in %d files", name, len(want))
			}
			raw, err := os.ReadFile(filepath.Join(p.Output, dedup.SummaryFile))
			var s Summary
			if err != nil || json.Unmarshal(raw, &s) != nil || s.Removed != 0 || s.Tagged == nil || *s.Tagged == 0 || s.Kept != s.Read-s.Skipped {
				t.Errorf("%s: summary %s", name, raw)
			}
			if t.Failed() {
				t.Fatal(name, partitions)
			}
		}
	}
}

func TestWhatCannotCarryTagsIsRefusedByPlans(t *testing.T) {
	taken, lines := t.TempDir(), filepath.Join(t.TempDir(), "lines.txt")
	if err := os.WriteFile(filepath.Join(taken, "in.jsonl"), []byte(`{"id":"a","text":"one two three","cluster":7}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lines, []byte("one text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := dedup.Config{Inputs: []string{lines}, Tags: &dedup.Tags{}}
	o := PlanOptions{Command: stage.Dedup, Output: filepath.Join(t.TempDir(), "out"), Work: t.TempDir()}
	if _, err := Make(t.Context(), c, o); !errors.Is(err, dedup.ErrUsage) || !strings.Contains(err.Error(), "can carry no tags") {
		t.Errorf("a file that is a document: %v", err)
	}
	c.Inputs = []string{taken}
	if _, err := Make(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), `"cluster", which is the name of a tag too`) {
		t.Errorf("a record with a field of that name: %v", err)
	}
}
