package dedup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/vfs"
)

// cutting is CutPassages as a command.
func cutting(p Passages) command {
	return command{"passages", func(t testing.TB, ctx context.Context, on vfs.FS, c Config) (outcome, error) {
		t.Helper()
		return folderOn(t, on, c, func(c Config) (counts string, err error) {
			s, err := CutPassages(ctx, c, p)
			if err == nil {
				counts = fmt.Sprintf("%d %+v", s.Read, *s.Passages)
			}
			return counts, err
		})
	}}
}

func TestCutsThatWereKilledGoOnToTheSameResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	inputs, _ := troubleCorpus(t, 6)
	for _, p := range []Passages{{Unit: UnitSentence, MinTokens: 3}, {Unit: UnitSubstring, MinTokens: 4}} {
		cutting(p).survives(t, rng, Config{Inputs: []string{inputs}}, 30)
	}
}

// stopper ends a run when a stage begins.
type stopper struct {
	stage string
	end   context.CancelFunc
	begun []string
}

func (s *stopper) Stage(name string, _ int64) {
	if s.begun = append(s.begun, name); name == s.stage {
		s.end()
	}
}

func (*stopper) Advance(int64, int64) {}

// A run with similar units goes on too, with the groups that it has found.
func TestCutsOfSimilarUnitsGoOn(t *testing.T) {
	dir := mixedCorpus(t, 5)
	near := Passages{Unit: UnitLine, MinTokens: 4, Threshold: 0.6}
	tree := func(work Work, progress Progress, ctx context.Context, out string) (map[string]string, error) {
		c := Config{Inputs: []string{dir}, Output: out, Work: work, Progress: progress}
		_, err := CutPassages(ctx, c, near)
		if err != nil {
			return nil, err
		}
		files := tree(t, out)
		delete(files, SummaryFile)
		return files, nil
	}
	want, err := tree(nil, nil, t.Context(), filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	work, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := tree(WorkFolder{Path: work}, &stopper{stage: "list", end: cancel}, ctx, out); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	again := &stopper{}
	got, err := tree(WorkFolder{Path: work}, again, t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Error("other bytes than of an undisturbed run")
	}
	if stages := strings.Join(again.begun, " "); stages != "read write list" {
		t.Errorf("the stages of the second process are %q", stages)
	}
	other := near
	other.MinCount = 3
	c := Config{Inputs: []string{dir}, Output: out + "2", Work: WorkFolder{Path: work}}
	ctx, cancel = context.WithCancel(t.Context())
	c.Progress = &stopper{stage: "list", end: cancel}
	if _, err := CutPassages(ctx, c, near); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	c.Progress = nil
	if _, err := CutPassages(t.Context(), c, other); err == nil || !strings.Contains(err.Error(), "passages 1") {
		t.Errorf("the work of other cuts is taken: %v", err)
	}
}
