package dedup

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/turn"
)

// workspace is a run's share of memory and its folder for what exceeds it. The
// folder is made when the first file is asked for, so that a run within its
// memory and without Config.Work never touches the disk.
type workspace struct {
	fs      vfs.FS
	parent  string // Config.Work; "": a folder for temporary files, which is removed at the end
	scheme  string // line in the header of every file
	log     *log   // nil: nothing is kept for another process
	memory  int64  // for data; 0: no limit
	threads int
	turn    *turn.Turn // for what a single record takes out of proportion; nil: there is no limit

	mu     sync.Mutex
	path   string        // "" until made
	serial int           // of the last unnamed file
	open   *durable.Pool // files to read; nil until the first one

	spilled atomic.Int64
}

// programBytes is what the process takes that no stage's data is part of: code,
// stacks, the runtime.
const programBytes = 20 << 20

// workerBytes is what one worker holds besides a stage's data: a block of input,
// what it makes of it, and the scratch memory of parser and sketcher.
const workerBytes = 4 << 20

// newWorkspace takes the line of how signatures are made, which parts begin with.
func newWorkspace(config *Config, scheme string) *workspace {
	w := &workspace{
		fs: config.fs, parent: config.Work, threads: config.Threads, scheme: scheme,
	}
	if config.Memory > 0 {
		// A quarter of what is left is the collector's: what it has not taken back yet.
		left := config.Memory - programBytes - int64(config.Threads)*workerBytes
		w.memory = max(max(left, config.Memory/4)/4*3, 1)
	}
	if config.limits.memory > 0 {
		w.memory = config.limits.memory
	}
	if w.memory > 0 {
		w.turn = turn.New(largeFrom(config, w.memory))
	}
	return w
}

// largeFrom is the length from which on a record waits for its turn.
func largeFrom(config *Config, memory int64) int {
	if config.limits.record > 0 {
		return config.limits.record
	}
	return int(max(memory/int64(4*config.Threads), largeRecord))
}

// largeRecord is the size up to which a record never waits for its turn, whatever
// the memory: it is within workerBytes.
const largeRecord = 2 << 20

// share returns 1/n of the memory for data, 0 for any amount.
func (w *workspace) share(n int64) int64 {
	if w.memory == 0 {
		return 0
	}
	return max(w.memory/n, 1)
}

// sorting returns the options of a sorter that holds 1/n of the memory. keyBits is
// the number of low bits of a key that may be set, 0 for 64.
func (w *workspace) sorting(name string, n int64, keyBits int) extsort.Options {
	return extsort.Options{
		Dir: w, Name: w.unique(name, ""), Scheme: w.scheme, Memory: w.share(n), Threads: w.threads, KeyBits: keyBits,
		Temporary: w.log == nil,
	}
}

// sorted sorts the entries that fill adds.
func (w *workspace) sorted(ctx context.Context, o extsort.Options, fill func(to *extsort.Appender) error) (*extsort.Sorted, error) {
	sorter, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	to := sorter.Appender()
	err = fill(to)
	if err == nil {
		err = to.Flush()
	}
	return w.ended(ctx, sorter, err)
}

// ended sorts what was added to a sorter, unless adding has failed.
func (w *workspace) ended(ctx context.Context, sorter *extsort.Sorter, err error) (*extsort.Sorted, error) {
	if err == nil {
		var sorted *extsort.Sorted
		if sorted, err = sorter.Sort(ctx); err == nil {
			return sorted, nil
		}
	}
	return nil, errors.Join(err, w.release(sorter))
}

// release closes a sorter or what it has sorted. What the journal names stays on
// disk until the run is over.
func (w *workspace) release(s interface {
	Close() error
	Detach() error
}) error {
	if w.log != nil {
		return s.Detach()
	}
	return s.Close()
}

// releaseAll releases all that is there.
func (w *workspace) releaseAll(all ...*extsort.Sorted) (err error) {
	for _, s := range all {
		if s != nil {
			err = errors.Join(err, w.release(s))
		}
	}
	return err
}

// folder returns the folder's path and makes it if need be.
func (w *workspace) folder() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.path != "" {
		return w.path, nil
	}
	path, err := os.MkdirTemp("", "alike-")
	if err != nil {
		return "", workError(err)
	}
	w.path = path
	return path, nil
}

// workError says where something went wrong.
func workError(err error) error { return fmt.Errorf("work folder: %w", err) }

// pathOf returns the path of a file in the folder.
func (w *workspace) pathOf(name string) (string, error) {
	folder, err := w.folder()
	return filepath.Join(folder, name), err
}

// Create makes a new file for reading and writing.
func (w *workspace) Create(name string) (vfs.File, error) {
	path, err := w.pathOf(name)
	if err != nil {
		return nil, err
	}
	file, err := w.fs.Create(path, vfs.WriteCategoryUnspecified) // exclusively: it follows no link
	if err != nil {
		return nil, workError(err)
	}
	return file, nil
}

// unique returns a name that no file of this run has.
func (w *workspace) unique(prefix, suffix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serial++
	return fmt.Sprintf("%s-%06d%s", prefix, w.serial, suffix)
}

// openFiles is how many files of the folder are open to read at once. There may be
// thousands: a part for each GiB of input, and the runs of several sorters.
const openFiles = 64

// Open opens a file for reading, or again whenever it is read.
func (w *workspace) Open(name string) (extsort.RunFile, error) {
	w.mu.Lock()
	if w.open == nil {
		w.open = durable.NewPool(openFiles, func(name string) (vfs.File, error) {
			return w.fs.Open(filepath.Join(w.path, name))
		})
	}
	pool := w.open
	w.mu.Unlock()
	return pool.Open(name)
}

// Remove deletes a file.
func (w *workspace) Remove(name string) error {
	return w.fs.Remove(filepath.Join(w.path, name))
}

// Spilled counts bytes that went to disk because memory did not suffice.
func (w *workspace) Spilled(bytes int64) { w.spilled.Add(bytes) }

// removeFiles deletes what a run that can be resumed has put into its folder.
func (w *workspace) removeFiles() error {
	if err := w.clean(func(string) bool { return false }); err != nil {
		return err
	}
	return w.fs.Remove(w.path)
}

// remove deletes the folder with all that is in it.
func (w *workspace) remove() error {
	if w.path == "" {
		return nil
	}
	return w.fs.RemoveAll(w.path)
}

// bitset is a set of documents: a bit for each.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(doc uint32) bool { return b[doc/64]&(1<<(doc%64)) != 0 }

func (b bitset) add(doc uint32) { b[doc/64] |= 1 << (doc % 64) }

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitset) remove(doc uint32) { b[doc/64] &^= 1 << (doc % 64) }

// addShared is add for several goroutines at once.
func (b bitset) addShared(doc uint32) { atomic.OrUint64(&b[doc/64], 1<<(doc%64)) }
