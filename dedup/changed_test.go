package dedup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/shingle"
)

// atStage calls do when a stage begins, once.
type atStage struct {
	noProgress
	stage string
	do    func()
}

func (a *atStage) Stage(name string, _ int64) {
	if name == a.stage && a.do != nil {
		a.do()
		a.do = nil
	}
}

func TestInputThatChangesBetweenPassesEndsTheRunAndLeavesNothing(t *testing.T) {
	lines := strings.Repeat(`{"text":"the first text of all, with more than five words in it"}`+"\n", 5) +
		strings.Repeat(`{"text":"the first text of all, with more than six words in it, or so"}`+"\n", 5)
	changes := map[string]func(path string) error{
		"vanishes":           os.Remove,
		"shrinks":            func(path string) error { return os.Truncate(path, 100) },
		"becomes empty":      func(path string) error { return os.Truncate(path, 0) },
		"becomes a folder":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o777)) },
		"grows":              func(path string) error { return rewrite(path, lines+"more\n") },
		"has other contents": func(path string) error { return rewrite(path, strings.ToUpper(lines)) },
	}
	for what, change := range changes {
		for _, stage := range []string{"verify", "write"} {
			for _, name := range []string{"in.jsonl", "in.jsonl.gz"} {
				dir := t.TempDir()
				path, out := filepath.Join(dir, name), filepath.Join(dir, "out")
				w, err := corpus.Create(path, compressionOf(name), 1)
				if err == nil {
					_, err = w.Write([]byte(lines))
				}
				if err == nil {
					err = w.Commit()
				}
				if err != nil {
					t.Fatal(err)
				}
				hook := &atStage{stage: stage, do: func() {
					if err := change(path); err != nil {
						t.Error(err)
					}
				}}
				// Banded, so that records are read again to be verified.
				_, err = Run(context.Background(), Config{
					Inputs:   []string{path},
					Output:   out,
					Progress: hook,
					Decide:   Similarity{Threshold: 0.5, Candidates: LSH{}},
				})
				if hook.do != nil {
					t.Fatalf("there is no stage %s", stage)
				}
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s %s before %s: error %v", name, what, stage, err)
				}
				if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s %s before %s: an output is left behind", name, what, stage)
				}
			}
		}
	}
}

// A file that is written in place, by a program that sets its time back, can only be told by what is read.
func TestARecordThatHasMoreWordsThanBeforeEndsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	lines := `{"text":"some long words that stay together in these lines"}` + "\n" + `{"text":"some long words that stay together in these lines too"}` + "\n"
	for i := range 100 { // or the sets of all documents would be made at once
		lines += fmt.Sprintf(`{"text":"document %d"}`+"\n", i)
	}
	at := time.Now().Add(-time.Hour)
	write := func(text string) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(lines)
	hook := &atStage{stage: "verify", do: func() { write(strings.ReplaceAll(lines, "together", "to ge th")) }}
	_, err := Pairs(t.Context(), Config{
		Inputs:     []string{path},
		Progress:   hook,
		limits:     limits{retain: 1}, // features are made again
		Decide:     Similarity{Threshold: 0.3, Candidates: LSH{}},
		Signatures: OfShingles{Options: shingle.Options{N: 2}},
	}, func(Pair) error { return nil })
	if hook.do != nil {
		t.Fatal("nothing is verified")
	}
	if !errors.Is(err, corpus.ErrChanged) {
		t.Errorf("error %v", err)
	}
}

func compressionOf(name string) corpus.Compression {
	_, c, _ := corpus.NameFormat(name)
	return c
}

// rewrite changes a file, at a time that differs from that of its last change.
func rewrite(path, text string) error {
	return errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
}
