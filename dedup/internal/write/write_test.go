package write

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/vfs"
)

func TestFilesThatAreWrittenShareTheMemory(t *testing.T) {
	room := newMemory(100)
	var taken, most atomic.Int64
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			granted, err := room.take(context.Background(), 10, int64(10+i*5)) // from a tenth to more than all
			if err != nil {
				t.Error(err)
				return
			}
			if want := min(int64(10+i*5), 100); granted != want {
				t.Errorf("file %d has %d bytes, want %d", i, granted, want)
			}
			now := taken.Add(granted)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			taken.Add(-granted)
			room.giveBack(granted)
		})
	}
	wait.Wait()
	if most.Load() > 100 {
		t.Errorf("%d bytes of 100 were taken", most.Load())
	}
}

func TestAFileThatNeedsMoreThanThereIsIsWrittenAlone(t *testing.T) {
	room := newMemory(100)
	granted, err := room.take(context.Background(), 300, 900)
	if err != nil || granted != 300 {
		t.Fatalf("%d bytes, %v; want the 300 without which it cannot be written", granted, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := room.take(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("beside it another one is let in: %v", err)
	}
	room.giveBack(granted)
	if granted, err = room.take(context.Background(), 1, 100); err != nil || granted != 100 {
		t.Errorf("after it %d bytes are left, %v", granted, err)
	}
}

func TestWithoutACeilingEveryFileHasWhatItWants(t *testing.T) {
	room := newMemory(0)
	for range 3 {
		if granted, err := room.take(context.Background(), 1, 1<<40); err != nil || granted != 1<<40 {
			t.Errorf("%d bytes, %v", granted, err)
		}
	}
}

// An object's key may be longer than a file's name. That is told before anything is read.
func TestANameThatIsTooLongForTheOutputIsRefused(t *testing.T) {
	o := &Folder{fs: vfs.OS, path: t.TempDir()}
	long := strings.Repeat("n", 300) + ".jsonl"
	if _, err := os.Lstat(filepath.Join(o.path, long)); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Skip("this system takes names of any length")
	}
	for name, refused := range map[string]bool{
		"a/short.jsonl": false, strings.Repeat("n", 240) + ".jsonl": false,
		"a/" + long: true, long + "/a.jsonl": true, strings.Repeat("deep/", 2000) + "a.jsonl": true,
	} {
		err := o.checkNames([]corpus.Source{{Path: "in/x.jsonl", Name: name, Format: corpus.JSONL}})
		if (err != nil) != refused || err != nil && !strings.HasPrefix(err.Error(), "in/x.jsonl: ") {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
		if err := o.checkNames([]corpus.Source{{Path: "in/x.txt", Name: name, Format: corpus.Text}}); err != nil {
			t.Errorf("a text is not copied: %v", err)
		}
	}
}
