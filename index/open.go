package index

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// Exists tells whether there is an index in a folder.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, headerFile))
	return err == nil
}

// Open opens the index in a folder. Only one process at a time can have it open for writing: others get
// ErrInUse.
func Open(dir string, o OpenOptions) (*Index, error) {
	o.setDefaults()
	if err := isFolder(o.FS, dir); err != nil {
		return nil, err
	}
	o.FS = fence.Around(o.FS, dir)
	if _, err := o.FS.Stat(filepath.Join(dir, headerFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Because(fs.ErrNotExist, "there is no index in %s; check the name, or make one there", fault.Shown(dir))
	}
	if o.ReadOnly {
		return openBeside(dir, o)
	}
	lock, err := takeLock(o.FS, dir)
	if err != nil {
		return nil, err
	}
	return openAlone(dir, o, lock)
}

func openAlone(dir string, o OpenOptions, lock *filelock.Lock) (x *Index, err error) {
	f := &folder{fs: o.FS, dir: dir, lock: lock}
	s := newDiskStore(f)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abandon())
		}
	}()
	o.Options, err = readHeader(o.FS, dir, o.Options)
	if err != nil {
		return nil, err
	}
	state, err := f.readState()
	if err != nil {
		return nil, err
	}
	if err := f.sweep(); err != nil {
		return nil, err
	}
	w, err := s.load(o, false, nil)
	if err != nil {
		return nil, err
	}
	if err := f.compareState(s.x, state, true); err != nil {
		return nil, err
	}
	return newIndex(w), f.writeState(s.x, false)
}

// openBeside opens an index as it is now, even while another process writes to it.
func openBeside(dir string, o OpenOptions) (x *Index, err error) {
	if o.Options, err = readHeader(o.FS, dir, o.Options); err != nil {
		return nil, err
	}
	store := filepath.Join(dir, storeDir)
	for range snapshotTries {
		f := &folder{fs: o.FS, dir: dir}
		s := newDiskStore(f)
		state, err := f.readState() // before the store, so that it can only be older
		if err != nil {
			return nil, err
		}
		if f.snapshot, err = takeSnapshot(o.FS, store); err != nil {
			return nil, err
		}
		var w *writer
		names, err := f.snapshot.List(store)
		if err == nil {
			// An index that was created but has no data yet gets a store in memory.
			w, err = s.load(o, len(names) > 0, state)
		}
		if err == nil {
			err = f.compareState(s.x, state, false)
		}
		if err == nil {
			w.failed = fmt.Errorf("%w: it was opened so", ErrReadOnly)
			return newIndex(w), nil
		}
		changed := !f.snapshot.same(o.FS, store)
		err = errors.Join(err, s.abandon())
		if !changed {
			return nil, err
		}
	}
	return nil, fmt.Errorf("index: %s: %w", store, errChanging)
}

// Create makes an index in a folder that does not exist or is empty, and opens it. A folder with an
// index that was begun but not finished counts as empty.
func Create(dir string, o OpenOptions) (x *Index, err error) {
	o.setDefaults()
	f, err := prepareFolder(o.FS, dir, o.Options)
	if err != nil {
		return nil, err
	}
	s := newDiskStore(f)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abandon())
		}
	}()
	w, err := s.load(o, false, nil)
	if err != nil {
		return nil, err
	}
	if err = f.writeState(s.x, false); err != nil {
		return nil, err
	}
	if err = f.publish(); err != nil {
		return nil, err
	}
	return newIndex(w), nil
}

// OpenOrCreate opens the index in a folder, or creates it if there is none.
func OpenOrCreate(dir string, o OpenOptions) (*Index, error) {
	x, err := Open(dir, o)
	if errors.Is(err, fs.ErrNotExist) {
		return Create(dir, o)
	}
	return x, err
}

// OpenOptions say how an index in a folder is opened.
type OpenOptions struct {
	// Options has the window, and the recipe if it cannot be parsed from the header. If Recipe, Keys or
	// BucketCap are set, they must be as in the header, else the error is ErrOther.
	Options
	// ReadOnly opens the index as it is now. Nothing is written. Any number of processes may do so, even
	// while another process writes, and none waits for another.
	ReadOnly bool
	// Few, with ReadOnly, opens an index for a few searches by its own measure: at once, and each search reads all keys from
	// the disk. The first other search, or the seventh, fills memory as it is done without Few. Answers are the same.
	Few     bool
	Threads int // goroutines that fill memory from the store; 0: all processors
	// Memory is a ceiling for the resident bytes of a process that does little else; 0: none. With it,
	// Cache and TailKeys are shares of it unless they are set. An index with keys in memory that needs more
	// is refused with ErrMemory, which says how much, before the memory is allocated; an index that grows
	// beyond it takes no more documents.
	Memory int64
	// Beside is how many bytes of Memory the rest of the process needs. A quarter of Memory is for the index in any
	// case.
	Beside int64
	// Cache is how many bytes of the store are cached in memory at most; 0: 64 MiB, with KeysOnDisk 256
	// MiB. With KeysOnDisk looking up a key that does not exist costs no read as long as Cache has 1.7
	// bytes for each key: 29 for a document of the default recipe. A writer may add what its tables in memory leave
	// of 64 MiB.
	Cache int64
	// TailKeys is how many keys memory holds with KeysOnDisk; half of them may be on their way to the disk.
	// A writer that is faster than the disk is slowed down by some milliseconds a batch; 0:
	// DefaultTailKeys.
	TailKeys int
	FS       vfs.FS // nil: that of the operating system

	memTable uint64 // bytes of a table of Pebble in memory; 0 except in tests: memTableSize
	// pieceBytes is the length of a record from which on it is stored in pieces; 0 except in tests: pieceSize
	pieceBytes int
}

// DefaultTailKeys is how many keys memory holds, including keys on their way to the disk: the keys of
// 246,000 documents of the default recipe.
const DefaultTailKeys = 1 << 22

func (o *OpenOptions) setDefaults() {
	if o.FS == nil {
		o.FS = vfs.OS
	}
}

// share sets the options that are shares of Memory. It is called when Options.Keys is known.
func (o *OpenOptions) share() {
	if o.Memory == 0 {
		return
	}
	memory := max(o.Memory-o.Beside, o.Memory/besideShare)
	cache := max(memory/cacheShare, min(memory/2, leastCache))
	if o.Keys == KeysOnDisk {
		cache = max(memory/4, min(memory/2, defaultCache))
		o.TailKeys = cmp.Or(o.TailKeys, int(min(memory/4/tailKeyBytes, DefaultTailKeys)))
	}
	o.Cache = cmp.Or(o.Cache, cache)
	o.memTable = cmp.Or(o.memTable, uint64(min(max(memory/cacheShare, 1<<20), memTableSize)))
}

// Ceiling returns the Memory that suffices to open an index of so many documents with so many keys in memory.
func (o OpenOptions) Ceiling(documents, keys int64) int64 {
	return leastFor(keytable.ReservedBytes(int(keys))+documents*slotSize(newJudge(o.Recipe).words), o.Beside)
}
