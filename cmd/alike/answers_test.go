package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWhatEndsTheAnswersIsTold(t *testing.T) {
	echo := func(line []byte) answered { return answered{Output: string(line)} }
	var out strings.Builder
	broken := errors.New("the pipe broke")
	in := io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(broken))
	if err := answerLines(t.Context(), in, &out, echo); !errors.Is(err, broken) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("%v after %q", err, out.String())
	}
	if err := answerLines(t.Context(), strings.NewReader(strings.Repeat("a", mostOfLine+1)), io.Discard, echo); err == nil {
		t.Error("a line that is too long ends nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting, nobody := io.Pipe()
	defer nobody.Close()
	cancel()
	if err := answerLines(ctx, waiting, io.Discard, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while no line comes: %v", err)
	}
}
