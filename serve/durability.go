package serve

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/vfs"
)

// Durability says what an answer to a write promises.
type Durability string

const (
	Sync Durability = "sync" // it survives a power failure
	// It survives the end of the process; a power failure may lose the last 50 ms, or more if the disk takes so long.
	Interval Durability = "interval"
	Memory   Durability = "memory" // it lasts as long as the process
	Logged   Durability = "log"    // it survives what a majority of the log's servers survives; see Config.Order
)

// syncEvery is how often files of a lazyFS are synced. An answer does not wait for it, so that a power failure loses what
// came since the last complete sync began: this interval, and the time of a sync.
const syncEvery = 20 * time.Millisecond

// lazyFS is a file system on which the log of an index is synced now and then and not when the index asks. What was
// written is the operating system's by then.
type lazyFS struct {
	vfs.FS
	mu    sync.Mutex
	dirty map[*lazyFile]bool
	err   error // of a sync; every later one fails with it
}

func newLazyFS(on vfs.FS) *lazyFS { return &lazyFS{FS: on, dirty: map[*lazyFile]bool{}} }

// run syncs until the context ends.
func (l *lazyFS) run(ctx context.Context) {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.syncAll()
		}
	}
}

func (l *lazyFS) syncAll() {
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = map[*lazyFile]bool{}
	l.mu.Unlock()
	for f := range dirty {
		if err := f.syncNow(); err != nil {
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
		}
	}
}

func (l *lazyFS) Unwrap() vfs.FS { return l.FS }

func (l *lazyFS) Create(name string) (vfs.File, error) { return l.lazy(name)(l.FS.Create(name)) }

func (l *lazyFS) OpenReadWrite(name string) (vfs.File, error) {
	return l.lazy(name)(l.FS.OpenReadWrite(name))
}

// lazy returns a function that wraps the file if it is a log.
func (l *lazyFS) lazy(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil || !strings.HasSuffix(name, ".log") {
			return f, err
		}
		return &lazyFile{File: f, fs: l}, nil
	}
}

// lazyFile is a log.
type lazyFile struct {
	vfs.File
	fs     *lazyFS
	mu     sync.Mutex // held while the file is synced or closed
	closed bool
}

func (f *lazyFile) Sync() error     { return f.later() }
func (f *lazyFile) SyncData() error { return f.later() }

func (f *lazyFile) later() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.dirty[f] = true
	return f.fs.err
}

func (f *lazyFile) syncNow() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil // Close has synced it
	}
	return f.File.SyncData()
}

// Close syncs what was not synced yet.
func (f *lazyFile) Close() error {
	err := f.syncNow()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if closed := f.File.Close(); err == nil {
		err = closed
	}
	return err
}

// durabilityHeader says what an answer promises.
const durabilityHeader = "Alike-Durability"
