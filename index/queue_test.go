package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

// numbered is a document that is like no other one.
func numbered(n int) Document {
	return Document{ID: fmt.Append(nil, n), Text: fmt.Appendf(nil, "%s a%d b%d c%d d%d", strings.Repeat("x ", 200), n, n, n, n)}
}

// Pebble waits for the old log when it begins another one. Meanwhile documents are checked, added and found.
func TestAWriterDoesNotWaitForTheDisk(t *testing.T) {
	const memTable, docs = 256 << 10, 290 // of 1.1 KB with their keys: more than a table, and less than a table and a full queue
	release := make(chan struct{})
	stuck := func(op vfstest.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == vfstest.OpFileSync || op.Kind == vfstest.OpFileSyncData) {
			<-release
		}
		return nil
	}
	fs := vfstest.Inject(vfstest.NewMem(), stuck)
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], Window: Window{Docs: docs}}, FS: fs, memTable: memTable})
	if err != nil {
		t.Fatal(err)
	}
	for n := range docs {
		if v, err := x.CheckOne(numbered(n)); err != nil || !v.New {
			t.Fatal(n, v, err)
		}
	}
	if q := x.store.(*diskStore).queue; q.last() == 0 || q.filled() == 0 {
		t.Fatal("no log was begun, so that there was nothing to wait for")
	}
	s := x.NewSearcher()
	for n := range docs {
		if found, err := s.Search(numbered(n).Text, SearchOptions{}); err != nil || len(found) != 1 || string(found[0].ID) != fmt.Sprint(n) {
			t.Fatal(n, found, err)
		}
	}
	close(release)
	if err := x.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if x, err = Open(indexDir, OpenOptions{FS: fs}); err != nil {
		t.Fatal(err)
	}
	if n := x.Documents(); n != docs {
		t.Errorf("%d documents", n)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// A batch is in the queue when Check returns. If writing it then fails, Err tells so before anything else is written,
// and Check refuses the next batch before it emits a verdict.
func TestTheErrorOfAQueuedWriteIsKnownAtOnce(t *testing.T) {
	var full atomic.Bool
	fs := vfstest.Inject(vfstest.NewMem(), func(op vfstest.Op) error {
		if full.Load() && op.Kind == vfstest.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"]}, FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	b := x.NewCheck()
	for n := range 100 { // more than Pebble holds back
		b.Add(numbered(n))
	}
	if _, err := x.Check(b, nil); err != nil {
		t.Fatal(err)
	}
	<-x.store.(*diskStore).engine.broken
	if !x.Stats().Failed {
		t.Error("its counts do not say that it takes no more")
	}
	if err := x.Err(); !errors.Is(err, ErrReadOnly) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	b.Reset()
	b.Add(numbered(100))
	_, err = x.Check(b, func([]Verdict) error {
		t.Error("a verdict was emitted")
		return nil
	})
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// The power fails while batches are in the queue. What is left is all documents up to one, and at least those
// that were acknowledged.
func TestTheQueueKeepsTheOrderWhenThePowerFails(t *testing.T) {
	for run := range 8 {
		random := rand.New(rand.NewPCG(uint64(run), 3))
		fs, safe := vfstest.NewCrashable(), 0
		x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"]}, FS: fs})
		if err == nil {
			err = x.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		c := &crashing{fs: fs, cfg: vfstest.CrashCloneCfg{UnsyncedDataPercent: 30 * (run % 4), RNG: rand.New(rand.NewPCG(uint64(run), 4))}}
		c.n.Store(1 << 40)
		if x, err = Open(indexDir, OpenOptions{FS: c.wrap(), memTable: 64 << 10}); err != nil {
			t.Fatal(err)
		}
		c.n.Store(int64(random.IntN(80)))
		for n := 0; err == nil; n++ {
			if _, err = x.CheckOne(numbered(n)); err == nil && random.IntN(20) == 0 {
				if err = x.Sync(); err == nil && c.after.Load() == nil {
					safe = n + 1
				}
			}
		}
		if !errors.Is(err, ErrReadOnly) {
			t.Fatal(err)
		}
		_ = x.Close() // its error is that of the power
		for c.after.Load() == nil {
			runtime.Gosched() // another goroutine is about to take it
		}
		if x, err = Open(indexDir, OpenOptions{FS: c.after.Load()}); err != nil {
			t.Fatal(err)
		}
		if x.Documents() < int64(safe) {
			t.Errorf("run %d: %d documents, and %d were acknowledged", run, x.Documents(), safe)
		}
		for slot := range uint64(x.Documents()) {
			if id, ok, err := x.Slots().ID(slot); !ok || err != nil || string(id) != fmt.Sprint(slot) {
				t.Fatalf("run %d, slot %d: %q, %v, %v", run, slot, id, ok, err)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
