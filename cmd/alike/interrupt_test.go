package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// askedFor cancels when a question is written.
type askedFor struct{ cancel context.CancelFunc }

func (a askedFor) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "do they belong together?") {
		a.cancel()
	}
	return len(p), nil
}

func TestACommandThatWaitsForAKeyEndsWhenItIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(table, []byte("id,name\n1,Ruth Kowalski\n2,Ruth Kowalsky\n3,Peter Whitfield\n4,Pete Whitfield\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe() // nobody writes
	defer out.Close()
	args := []string{"label", table, "-o", filepath.Join(dir, "labels.csv")}
	cmd := newRoot(args)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd.SetIn(in)
	cmd.SetOut(askedFor{cancel})
	cmd.SetErr(io.Discard)
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnInterruptedCommandDoesNotWaitForAComputation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	defer close(goOn)
	_, err := unless(ctx, func() (int, error) {
		cancel()
		<-goOn
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An output takes nothing any more, whatever makes it.
func TestNothingIsWrittenAfterAnInterruption(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := newRoot(nil)
	cmd.SetContext(ctx)
	writes := 0
	err := writeOutput(cmd, path, func(w io.Writer) error {
		for writes < 100 {
			if writes++; writes == 3 {
				cancel()
			}
			if _, err := w.Write([]byte("row\n")); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || writes != 3 {
		t.Errorf("%d writes, %v", writes, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the output is there: %v", err)
	}
}
