package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/internal/bucketserver"
)

// remedy is what a refusal must tell: what to do instead.
var remedy = regexp.MustCompile(`plan again|again into another folder|start over|name another folder|give the flags with which|learn it again`)

// TestWhatAnEarlierProgramHasWrittenOpensOrSaysWhatToDo reads what the program of a month has left behind, in a folder of
// testdata/formats: either the answers are those of then, or one line says what to do. README.md there says how a folder
// was made.
func TestWhatAnEarlierProgramHasWrittenOpensOrSaysWhatToDo(t *testing.T) {
	cases := []struct {
		name, line, stdin string
		made              string // the file with the answer, where it is not standard output
		answer            string // in answers; "": it is refused today
	}{
		{name: "index", line: "search index more.jsonl", answer: "index.csv"},
		{name: "index of text/v1", line: "search index-v1 more.jsonl", answer: "index-v1.csv"},
		{name: "index of text/v1 for a run", line: "dedup more.jsonl -o out --index index-v1"},
		{name: "state", line: "stream --state state", stdin: "more.jsonl", answer: "state.jsonl"},
		{name: "state of text/v1", line: "stream --state state-v1", stdin: "more.jsonl"},
		{name: "fingerprints", line: "pairs fingerprints.jsonl", answer: "fingerprints.csv"},
		{name: "model", line: "join left.csv right.csv --model model.json", answer: "model.csv"},
		{name: "config", line: "join left.csv right.csv --config config.json", answer: "config.csv"},
		{name: "journal", line: "dedup - -o clean --work journal", stdin: "docs.jsonl", made: "clean/removed.csv", answer: "removed.csv"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ofThen(t)
			got, err := runOn(t, c.line, c.stdin)
			if err == nil && c.made != "" {
				got = read(t, c.made)
			}
			expectAnswer(t, got, err, c.answer)
		})
	}
	t.Run("plan", func(t *testing.T) {
		store := ofThen(t)
		stages, err := runOn(t, "stage list --plan plan.json", "")
		for line := range strings.Lines(stages) {
			var stage string
			var tasks int
			if _, wrong := fmt.Sscan(line, &stage, &tasks); wrong != nil {
				t.Fatalf("%q: %v", line, wrong)
			}
			for task := range tasks {
				if err == nil {
					_, err = runOn(t, fmt.Sprintf("stage %s --task %d --plan plan.json", stage, task), "")
				}
			}
		}
		removed, _ := store.Get("formats", "clean/removed.csv")
		expectAnswer(t, string(removed), err, "removed.csv")
	})
}

// expectAnswer checks that an answer is that of then, or an error one line with a remedy.
func expectAnswer(t *testing.T, got string, err error, answer string) {
	t.Helper()
	switch {
	case err != nil:
		t.Log(err)
		if message := err.Error(); strings.Contains(message, "\n") || !remedy.MatchString(message) {
			t.Errorf("refused, and not in one line that says what to do: %v", err)
		}
	case answer == "":
		t.Errorf("not refused, and answers %s", got)
	case got != read(t, filepath.Join("answers", answer)):
		t.Errorf("answers\n%s\nand not as then", got)
	}
}

// ofThen goes to a copy of what was written then, with the objects in a store of Google.
func ofThen(t *testing.T) *bucketserver.GS {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "formats", "2026-11"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	made := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // which the plan knows, and a checkout does not
	if err := os.Chtimes("docs.jsonl", made, made); err != nil {
		t.Fatal(err)
	}
	store := bucketserver.StartGS(t)
	for name, value := range store.Env() {
		t.Setenv(name, value)
	}
	err := filepath.WalkDir("objects", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			store.Put("formats", filepath.ToSlash(path), []byte(read(t, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// runOn runs a command line, with a file as standard input if one is named.
func runOn(t *testing.T, line, stdin string) (string, error) {
	t.Helper()
	if stdin != "" {
		file, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		defer func(was *os.File) { os.Stdin = was }(os.Stdin)
		os.Stdin = file
	}
	var out strings.Builder
	root := newRoot(strings.Fields(line))
	root.SetOut(&out)
	root.SetErr(new(strings.Builder))
	err := root.Execute()
	return out.String(), err
}
