package stream_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// lineCounter counts the lines that are written, and sets stuck when there are so many.
type lineCounter struct {
	lines atomic.Int64
	most  int64
	stuck atomic.Bool
}

func (c *lineCounter) Write(p []byte) (int, error) {
	if c.lines.Add(int64(bytes.Count(p, []byte("\n")))) >= c.most {
		c.stuck.Store(true)
	}
	return len(p), nil
}

// Where the disk takes long to make anything durable a stream waits for it. It once wrote on, and all that it had
// written meanwhile was there twice after a kill.
func TestAStreamDoesNotRunAwayFromASlowDisk(t *testing.T) {
	const all, first = 12_000, 8_000 // Pebble's own tables are large enough by then not to be in the way
	out := &lineCounter{most: first}
	release := make(chan struct{})
	slow := func(op vfstest.Op) error {
		if out.stuck.Load() && strings.HasSuffix(op.Path, ".log") && (op.Kind == vfstest.OpFileSync || op.Kind == vfstest.OpFileSyncData) {
			<-release
		}
		return nil
	}
	o := newIndex(t, recipe.Options{}, index.Window{Docs: 100_000}).Options()
	x, err := index.Create("state", index.OpenOptions{Options: o, FS: vfstest.Inject(vfstest.NewMem(), slow)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var in strings.Builder
	for i := range all { // each a stranger to the others
		fmt.Fprintln(&in, words(i*31, 30))
	}
	from, read := source(t, strings.NewReader(in.String()), corpus.Lines)
	ended := make(chan error, 1)
	go func() {
		_, err := stream.Run(t.Context(), stream.Config{Index: x, Source: from, Corpus: read, Out: out, SyncEvery: time.Millisecond})
		ended <- err
	}()
	for n := int64(-1); n < max(out.lines.Load(), first); time.Sleep(200 * time.Millisecond) {
		n = out.lines.Load() // until no more comes
	}
	if out.lines.Load() == all {
		t.Error("all was written, and nothing of its end is durable")
	}
	close(release)
	if err := <-ended; err != nil || out.lines.Load() != all {
		t.Errorf("%d lines, %v", out.lines.Load(), err)
	}
}
