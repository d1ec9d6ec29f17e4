//go:build unix

package corpus

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFIFOAndSocketInAFolderAreSkippedWithoutWaiting(t *testing.T) {
	tree(t, "d/a.txt")
	must(t, syscall.Mkfifo("d/fifo", 0o666))
	l, err := net.Listen("unix", "d/socket")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	must(t, os.Symlink("fifo", "d/link"))
	sources, skipped, err := Find(t.Context(), []string{"d"}, Options{})
	must(t, err)
	if len(sources) != 1 || len(skipped) != 3 {
		t.Fatalf("%v, skipped %v", sources, skipped)
	}
	for i, want := range []string{"d/fifo: a FIFO", "d/link: a FIFO", "d/socket: a socket"} {
		if !errors.Is(&skipped[i], ErrNotRegular) || !strings.HasPrefix(skipped[i].Error(), want) {
			t.Errorf("skipped %v, want %s", skipped[i].Error(), want)
		}
	}
}

func TestFIFOThatIsNamedIsReadAsAStream(t *testing.T) {
	for name, want := range map[string]string{"fifo": "fifo.jsonl", "fifo.csv": "fifo.csv"} {
		tree(t)
		must(t, syscall.Mkfifo(name, 0o666))
		data := sample(JSONL, 40)
		if name == "fifo.csv" {
			data = sample(CSV, 40)
		}
		s := mustFind(t, name)
		if !s.Stream || s.Path != name || s.Name != want {
			t.Fatalf("source %+v", s)
		}
		done := make(chan error)
		go func() { done <- os.WriteFile(name, data, 0) }()
		have, err := readAll(t, s, Options{}, 3)
		must(t, err)
		must(t, <-done)
		compare(t, name, have, twin(data, s.Format, Options{}))
	}
}

func TestFileThatBecameAFIFOIsRefused(t *testing.T) {
	tree(t, "a.jsonl")
	s := mustFind(t, "a.jsonl")
	must(t, os.Remove("a.jsonl"))
	must(t, syscall.Mkfifo("a.jsonl", 0o666))
	if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("Open: %v", err)
	}
}
