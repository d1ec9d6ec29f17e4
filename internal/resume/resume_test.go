package resume_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

const folder = "/work"

func settings(value string) iter.Seq[journal.Setting] {
	return func(yield func(journal.Setting) bool) { yield(journal.Setting{Name: "threshold", Value: value}) }
}

// begin opens the log of a process.
func begin(t *testing.T, fs vfs.FS, value string) (*resume.Log, *scratch.Space) {
	t.Helper()
	space := scratch.New(scratch.Options{FS: fs, Threads: 1})
	log, err := resume.Open(t.Context(), space, resume.Options{Folder: folder, Settings: settings(value)})
	if err != nil {
		t.Fatal(err)
	}
	return log, space
}

// step makes entries from a number on, once; made counts how often.
func step(t *testing.T, log *resume.Log, space *scratch.Space, kind string, made *int) ([]extsort.Entry, int64) {
	t.Helper()
	o := space.Sorting("edges", 8, 64)
	sorted, n, err := log.Step(t.Context(), kind, func() ([]*extsort.Sorted, int64, error) {
		*made++
		s, err := space.Sorted(t.Context(), o, func(to *extsort.Appender) error {
			return errors.Join(to.Add(7, 1), to.Add(3, uint64(len(kind))))
		})
		return []*extsort.Sorted{s}, 42, err
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = space.Release(sorted[0]) }()
	var entries []extsort.Entry
	err = sorted[0].Visit(func(e extsort.Entry) error { entries = append(entries, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return entries, n
}

func TestWhatOneProcessHasFinishedTheNextOneDoesNotDoAgain(t *testing.T) {
	fs := vfstest.NewMem()
	made := 0
	log, space := begin(t, fs, "0.8")
	if log.Resumed() {
		t.Error("a new folder holds a run")
	}
	want, n := step(t, log, space, "edges", &made)
	if err := log.Note("so-far", 5); err != nil {
		t.Fatal(err)
	}
	if !log.Keeps() || made != 1 {
		t.Fatalf("made %d times; there is something to go on with: %v", made, log.Keeps())
	}
	if err := log.Close(false); err != nil {
		t.Fatal(err)
	}

	log, space = begin(t, fs, "0.8")
	if got, m := step(t, log, space, "edges", &made); !log.Resumed() || made != 1 || m != n || !slices.Equal(got, want) {
		t.Errorf("made %d times: %v, %d; want %v, %d", made, got, m, want, n)
	}
	if got, _ := step(t, log, space, "other-edges", &made); made != 2 || slices.Equal(got, want) {
		t.Errorf("another step was taken for the one that is done: %v", got)
	}
	last := 0
	if found, err := log.Last("so-far", &last); err != nil || !found || last != 5 {
		t.Errorf("the note says %d, %v, %v", last, found, err)
	}
	log.NextRound()
	if step(t, log, space, "edges", &made); made != 3 {
		t.Error("what a round has done was taken for the next one's")
	}
	if err := log.Close(true); err != nil {
		t.Fatal(err)
	}
	if left, err := fs.List(folder); err != nil || len(left) > 0 {
		t.Errorf("a finished run leaves %v, %v", left, err)
	}
}

func TestARunWithOtherSettingsIsRefusedAndItsWorkStays(t *testing.T) {
	fs := vfstest.NewMem()
	made := 0
	log, space := begin(t, fs, "0.8")
	step(t, log, space, "edges", &made)
	if err := log.Close(false); err != nil {
		t.Fatal(err)
	}
	space = scratch.New(scratch.Options{FS: fs, Threads: 1})
	var other *journal.MismatchError
	if _, err := resume.Open(context.Background(), space, resume.Options{Folder: folder, Settings: settings("0.7")}); !errors.As(err, &other) || other.Was.Value != "0.8" {
		t.Fatalf("opened with another threshold: %v", err)
	}
	log, space = begin(t, fs, "0.8")
	if step(t, log, space, "edges", &made); made != 1 {
		t.Error("the refused run has thrown work away")
	}
	if err := log.Close(true); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutALogEveryStepIsMade(t *testing.T) {
	made := 0
	space := scratch.New(scratch.Options{FS: vfstest.NewMem(), Threads: 1})
	var log *resume.Log
	step(t, log, space, "edges", &made)
	step(t, log, space, "edges", &made)
	if made != 2 || log.Keeps() || log.Resumed() || log.Due() {
		t.Errorf("made %d times; keeps %v, resumed %v, due %v", made, log.Keeps(), log.Resumed(), log.Due())
	}
}
