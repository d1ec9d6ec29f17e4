package inorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// someFiles writes files of lines, one of them empty, and finds them.
func someFiles(t *testing.T) []corpus.Source {
	t.Helper()
	dir := t.TempDir()
	for i, lines := range []int{300, 0, 1, 500} {
		var text strings.Builder
		for k := range lines {
			fmt.Fprintf(&text, "line %d of file %d\n", k, i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sources, _, err := corpus.Find(t.Context(), []string{dir}, corpus.Options{Format: corpus.Lines})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func TestBlocksAreCommittedInOrder(t *testing.T) {
	sources := someFiles(t)
	var want strings.Builder
	for _, s := range sources {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		want.Write(data)
	}
	for _, threads := range []int{1, 2, 7} {
		var got strings.Builder
		ends := 0
		o := Options{Sources: sources, Corpus: corpus.Options{Format: corpus.Lines, BlockSize: 100}, Threads: threads}
		err := Each(t.Context(), o, Steps{
			Work: func(int, *Block) error { return nil },
			Commit: func(_ int, b *Block) error {
				got.Write(b.Data())
				if b.End {
					ends++
				}
				return b.Err
			},
		})
		if err != nil || got.String() != want.String() || ends != len(sources) {
			t.Errorf("%d threads: %d of %d bytes, %d ends: %v", threads, got.Len(), want.Len(), ends, err)
		}
	}
}

func TestAnErrorOfAStepEndsTheReading(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	fail := func(_ int, b *Block) error {
		if n++; n == 5 {
			return broken
		}
		return nil
	}
	quiet := func(int, *Block) error { return nil }
	o := Options{Sources: someFiles(t), Corpus: corpus.Options{Format: corpus.Lines, BlockSize: 100}, Threads: 3}
	for name, s := range map[string]Steps{"take": {fail, quiet, quiet}, "commit": {quiet, quiet, fail}} {
		n = 0
		if err := Each(t.Context(), o, s); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Each(ctx, o, Steps{Work: quiet, Commit: quiet}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
