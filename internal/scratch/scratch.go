// Package scratch gives a run its share of memory, and a folder for data that exceed it.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/turn"
	"github.com/alike-dev/alike/vfs"
)

type Options struct {
	FS      vfs.FS
	Threads int
	Ceiling int64  // resident bytes of the process; 0: no limit
	Scheme  string // line in the header of every file
	Parent  string // where the folder is made; it need not exist; "": that of temporary files
	Label   string // part of the folder's name

	Memory int64 // for data, instead of what Ceiling leaves; 0: what it leaves
	Record int   // length from which on a record waits for its turn, instead of a share of Memory; 0: that share
}

// Space is a run's share of memory and its folder for data that exceed it. The folder is made with
// the first file, so that a run within its memory never touches the disk, unless Keep has set a
// folder. It is safe for concurrent use.
type Space struct {
	FS      vfs.FS
	Threads int
	Ceiling int64      // resident bytes of the process; 0: no limit
	Scheme  string     // line in the header of every file
	Turn    *turn.Turn // for the extra memory of a single long record; nil: there is no limit

	memory int64 // for data; 0: no limit
	fixed  bool  // memory was given and does not follow from the ceiling
	record int   // Options.Record

	mu     sync.Mutex
	parent string
	label  string
	path   string           // "" until made
	made   *filelock.Folder // nil: not made, or kept
	kept   bool             // saved files are also for another process
	serial int              // of the last unnamed file
	open   *durable.Pool    // files to read; nil until the first one

	spilled atomic.Int64
}

// ProgramBytes is the memory of the process without the data of any stage: code, stacks, the
// runtime.
const ProgramBytes = 20 << 20

// WorkerBytes is the memory of one worker without the data of a stage: a block of input, its
// results, and the scratch memory of parser and sketcher.
const WorkerBytes = 4 << 20

// Outside returns the memory of the process without the data of any stage.
func Outside(threads int) int64 { return ProgramBytes + int64(threads)*WorkerBytes }

func New(o Options) *Space {
	s := &Space{
		FS: o.FS, Threads: o.Threads, Ceiling: o.Ceiling, Scheme: o.Scheme, parent: o.Parent, label: o.Label,
		memory: o.Memory, fixed: o.Memory > 0, record: o.Record,
	}
	s.Leave(0)
	return s
}

// Leave reserves bytes of the ceiling for other parts of the process. Nothing of the space may
// be in use.
func (s *Space) Leave(bytes int64) {
	if !s.fixed && s.Ceiling > 0 {
		// A quarter of the rest is for garbage that is not collected yet.
		ceiling := s.Ceiling - bytes
		s.memory = max(max(ceiling-Outside(s.Threads), ceiling/4)/4*3, 1)
	}
	if s.memory > 0 {
		large := s.record
		if large == 0 {
			large = int(max(s.memory/int64(4*s.Threads), largeRecord))
		}
		s.Turn = turn.New(large)
	}
}

// largeRecord is the size up to which a record never waits for its turn, whatever the memory: it
// fits in WorkerBytes.
const largeRecord = 2 << 20

// Share returns 1/n of the memory for data, 0 for any amount.
func (s *Space) Share(n int64) int64 {
	if s.memory == 0 {
		return 0
	}
	return max(s.memory/n, 1)
}

// Sorting returns the options of a sorter that holds 1/n of the memory. keyBits is the number of
// low bits of a key that may be set, 0 for 64.
func (s *Space) Sorting(name string, n int64, keyBits int) extsort.Options {
	return extsort.Options{
		Dir: s, Name: s.Unique(name, ""), Scheme: s.Scheme, Memory: s.Share(n), Threads: s.Threads, KeyBits: keyBits,
		Temporary: !s.kept,
	}
}

// Sorted sorts the entries that fill adds. The caller releases them.
func (s *Space) Sorted(ctx context.Context, o extsort.Options, fill func(to *extsort.Appender) error) (*extsort.Sorted, error) {
	sorter, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	to := sorter.Appender()
	err = fill(to)
	if err == nil {
		err = to.Flush()
	}
	return s.Ended(ctx, sorter, err)
}

// Ended sorts what was added to a sorter, unless adding has failed with err. The sorter is used up,
// and the caller releases the result.
func (s *Space) Ended(ctx context.Context, sorter *extsort.Sorter, err error) (*extsort.Sorted, error) {
	if err == nil {
		var sorted *extsort.Sorted
		if sorted, err = sorter.Sort(ctx); err == nil {
			return sorted, nil
		}
	}
	return nil, errors.Join(err, s.Release(sorter))
}

// Release closes a sorter or its result. Files that the journal names stay on disk until the run is
// over.
func (s *Space) Release(sorter interface {
	Close() error
	Detach() error
}) error {
	if s.kept {
		return sorter.Detach()
	}
	return sorter.Close()
}

// ReleaseAll releases all that are not nil.
func (s *Space) ReleaseAll(all ...*extsort.Sorted) (err error) {
	for _, sorted := range all {
		if sorted != nil {
			err = errors.Join(err, s.Release(sorted))
		}
	}
	return err
}

// ErrDamaged says that a file of the work folder is not what was written.
var ErrDamaged = setting.Errorf("the work folder is damaged: start over with %s, or without %s", setting.Fresh, setting.Work)

// folder returns the folder's path, and makes the folder if necessary.
func (s *Space) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		return s.path, nil
	}
	if s.parent != "" {
		if err := s.FS.MkdirAll(s.parent, 0o777); err != nil {
			return "", fault.InWorkFolder(err)
		}
	}
	parent := s.parent
	if parent == "" {
		parent = os.TempDir()
	}
	made, err := filelock.MakeFolder(parent, s.label)
	if err != nil {
		return "", fault.InWorkFolder(err)
	}
	s.made, s.path = made, made.Path
	return s.path, nil
}

// PathOf returns the path of a file in the folder.
func (s *Space) PathOf(name string) (string, error) {
	folder, err := s.folder()
	return filepath.Join(folder, name), err
}

// Create makes a new file for reading and writing.
func (s *Space) Create(name string) (vfs.File, error) {
	path, err := s.PathOf(name)
	if err != nil {
		return nil, err
	}
	file, err := s.FS.Create(path) // exclusively: it follows no link
	if err != nil {
		return nil, fault.InWorkFolder(err)
	}
	return file, nil
}

// Unique returns a name that no file of this run has.
func (s *Space) Unique(prefix, suffix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	return fmt.Sprintf("%s-%06d%s", prefix, s.serial, suffix)
}

// OpenFiles is how many files of the folder are open for reading at once. There may be thousands: a
// part for each GiB of input, and the runs of several sorters.
const OpenFiles = 64

// Open opens a file for reading; the file may be closed and opened again between reads.
func (s *Space) Open(name string) (extsort.RunFile, error) {
	s.mu.Lock()
	if s.open == nil {
		s.open = durable.NewPool(OpenFiles, func(name string) (vfs.File, error) {
			return s.FS.Open(filepath.Join(s.path, name))
		})
	}
	pool := s.open
	s.mu.Unlock()
	return pool.Open(name)
}

// Remove deletes a file.
func (s *Space) Remove(name string) error {
	return s.FS.Remove(filepath.Join(s.path, name))
}

// Spilled counts bytes that went to disk because memory did not suffice.
func (s *Space) Spilled(bytes int64) { s.spilled.Add(bytes) }

// SpilledBytes returns how many bytes went to disk.
func (s *Space) SpilledBytes() int64 { return s.spilled.Load() }

// Close removes the folder with its content, unless Keep has set it.
func (s *Space) Close() error {
	if s.made == nil {
		return nil
	}
	return errors.Join(s.FS.RemoveAll(s.path), s.made.Remove()) // the files may be in another file system
}

// Buffer returns a slice of length n that reuses b's memory where that suffices.
func Buffer(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// Keep puts the files in a folder that outlives the run: saved files stay there when they are
// released. It is called before anything else, and makes the folder.
func (s *Space) Keep(path string) error {
	s.path, s.kept = path, true
	err := s.FS.MkdirAll(path, 0o777)
	if err == nil {
		err = durable.CheckDir(s.FS, path)
	}
	if err == nil {
		err = durable.SyncDir(s.FS, filepath.Dir(path))
	}
	return fault.InWorkFolder(err)
}

// Sync makes the names of all files in the folder durable.
func (s *Space) Sync() error { return fault.InWorkFolder(durable.SyncDir(s.FS, s.path)) }

// RemoveKept removes the files in the folder that Keep has set, and the folder.
func (s *Space) RemoveKept() error {
	if err := s.Clean(func(string) bool { return false }); err != nil {
		return err
	}
	return s.FS.Remove(s.path)
}

// ownName matches the names of files that a run makes in its work folder, except for the journal
// and unfinished files, which tempName matches. They are compiled when they are used: most runs
// keep nothing.
var (
	ownName  = compiled(`[a-z]+-\d{6,}(-\d{6,}\.run|\.part)|input-\d+|decoded|records(\.index)?`)
	tempName = compiled(`^\.alike-[0-9a-z]+\.tmp$`)
	serial   = compiled(`^[a-z]+-(\d{6,})`)
)

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// NamesIn returns the names of a run's files that occur in a text.
func NamesIn(text string) []string { return ownName().FindAllString(text, -1) }

// Clean removes the files of a run except those to keep, and continues the numbering of files
// behind them.
func (s *Space) Clean(keep func(name string) bool) error {
	names, err := s.FS.List(s.path)
	if err != nil {
		return fault.InWorkFolder(err)
	}
	for _, name := range names {
		whole := ownName().FindString(name) == name || tempName().MatchString(name)
		if !whole {
			continue
		}
		if !keep(name) {
			if err := s.FS.RemoveAll(filepath.Join(s.path, name)); err != nil { // one may be a folder
				return fault.InWorkFolder(err)
			}
			continue
		}
		if m := serial().FindStringSubmatch(name); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return err
			}
			s.serial = max(s.serial, n)
		}
	}
	return nil
}
