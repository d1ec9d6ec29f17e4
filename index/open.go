package index

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	pebblefs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/index/internal/fence"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// ErrInUse says that another process has opened the index for writing.
var ErrInUse = filelock.ErrTaken

// OpenOptions say how an index in a folder is opened.
type OpenOptions struct {
	// Options has the window, and the recipe if it cannot be parsed from the header. If Recipe, Keys or
	// BucketCap are set, they must be as in the header, else the error is ErrOther.
	Options
	// ReadOnly opens the index as it is now. Nothing is written. Any number of processes may do so, even
	// while another process writes, and none waits for another.
	ReadOnly bool
	Threads  int // goroutines that fill memory from the store; 0: all processors
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
	// bytes for each key: 29 for a document of the default recipe.
	Cache int64
	// TailKeys is how many keys memory holds with KeysOnDisk; half of them may be on their way to the disk.
	// A writer that is faster than the disk is slowed down by some milliseconds a batch; 0:
	// DefaultTailKeys.
	TailKeys int
	FS       vfs.FS // nil: that of the operating system

	memTable uint64 // bytes of a table of Pebble in memory; 0 except in tests: memTableSize
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
	return open(dir, o, lock)
}

// isFolder is an error if the path is a file.
func isFolder(fsys vfs.FS, path string) error {
	if info, err := fsys.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file; name the folder of an index", fault.Shown(path))
	}
	return nil
}

func takeLock(fsys vfs.FS, dir string) (*filelock.Lock, error) {
	lock, err := filelock.Take(fsys, filepath.Join(dir, lockFile))
	if err != nil {
		if errors.Is(err, ErrInUse) {
			err = fmt.Errorf("%w, and one at a time writes: wait until it has ended", err)
		}
		return nil, fmt.Errorf("index: %s: %w", dir, err)
	}
	return lock, nil
}

func open(dir string, o OpenOptions, lock *filelock.Lock) (x *Index, err error) {
	s := newDisk(o.FS, dir)
	s.lock = lock
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abandon())
		}
	}()
	o.Options, err = readHeader(o.FS, dir, o.Options)
	if err != nil {
		return nil, err
	}
	state, err := s.readState()
	if err != nil {
		return nil, err
	}
	if err := s.sweep(); err != nil {
		return nil, err
	}
	if x, err = s.load(o, filepath.Join(dir, storeDir), false); err != nil {
		return nil, err
	}
	if err := s.compareState(x, state, true); err != nil {
		return nil, err
	}
	return x, s.writeState(x, false)
}

// openBeside opens an index as it is now, even while another process writes to it.
func openBeside(dir string, o OpenOptions) (x *Index, err error) {
	if o.Options, err = readHeader(o.FS, dir, o.Options); err != nil {
		return nil, err
	}
	store := filepath.Join(dir, storeDir)
	for range snapshotTries {
		s := newDisk(o.FS, dir)
		state, err := s.readState() // before the store, so that it can only be older
		if err != nil {
			return nil, err
		}
		if s.snapshot, err = takeSnapshot(o.FS, store); err != nil {
			return nil, err
		}
		names, err := s.snapshot.List(store)
		if err == nil {
			// An index that was created but has no data yet gets a store in memory.
			x, err = s.load(o, store, len(names) > 0)
		}
		if err == nil {
			err = s.compareState(x, state, false)
		}
		if err == nil {
			x.failed = fmt.Errorf("%w: it was opened so", ErrReadOnly)
			return x, nil
		}
		changed := !s.snapshot.same(o.FS, store)
		err = errors.Join(err, s.abandon())
		if !changed {
			return nil, err
		}
	}
	return nil, fmt.Errorf("index: %s: %w", store, errChanging)
}

// load opens the store and reads from it the data that memory holds.
func (s *disk) load(o OpenOptions, store string, readOnly bool) (*Index, error) {
	o.share()
	s.byID, s.history = o.ByID, uint64(o.History)
	s.onDisk, s.cache, s.tailKeys = o.Keys == KeysOnDisk, o.Cache, cmp.Or(o.TailKeys, DefaultTailKeys)
	s.filterBytes = int64(o.Recipe.Keys()+1) * 10 / 8
	err := s.do(func() (err error) {
		s.db, err = pebble.Open(store, s.storeOptions(readOnly, cmp.Or(o.memTable, memTableSize)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", store, asDamage(err))
	}
	x := newIndex(o.withDefaults())
	x.store, x.ceiling, x.beside = s, o.Memory, o.Beside
	return x, x.load(s, o.Threads)
}

// forPebble returns the file system for Pebble.
func (s *disk) forPebble() pebblefs.FS {
	if s.snapshot != nil {
		return s.snapshot
	}
	return &guarded{s.fs, s.fail}
}

// storeOptions returns the options for Pebble.
func (s *disk) storeOptions(readOnly bool, memTable uint64) *pebble.Options {
	if s.cache == 0 {
		s.cache = defaultCache
		if s.onDisk {
			s.cache = keysCache
		}
	}
	o := &pebble.Options{
		FS: s.forPebble(), ReadOnly: readOnly, FormatMajorVersion: pebble.FormatNewest,
		CacheSize: s.cache, MemTableSize: memTable, MemTableStopWritesThreshold: memTablesAtOnce, L0StopWritesThreshold: 24,
		Logger: (*diskLogger)(s),
		// The reader gets the error; without this listener Pebble would end the process.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // many ids that are looked up are not in the store
		o.Levels[i].BlockSize = 8 << 10                   // a record is read with its block
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.FastestCompression }
	}
	// Pebble soon rewrites the tables of level 0.
	o.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	if s.onDisk {
		o.Comparer = bucketOrder
		for i := range o.TargetFileSizes {
			o.TargetFileSizes[i] = tableFile
			o.Levels[i].BlockSize = 4 << 10 // a look-up of a key that exists reads one block
		}
	}
	o.EnsureDefaults()
	s.options = o
	return o
}

// defaultCache is how many bytes of the store are cached in memory; keysCache is the same with KeysOnDisk,
// where each look-up reads the store.
const (
	defaultCache = 64 << 20
	keysCache    = 256 << 20
)

// diskLogger is a disk as Pebble's logger.
type diskLogger disk

func (*diskLogger) Infof(string, ...any) {}

func (*diskLogger) Errorf(string, ...any) {}

// Pebble calls Fatalf when it cannot go on. It must not return.
func (l *diskLogger) Fatalf(format string, args ...any) {
	(*disk)(l).fail(fmt.Errorf(format, args...))
	select {} // see guarded
}

// STATE records, apart from the store, how far the index was. A store that has lost its end has no wrong
// checksum, but fewer slots than STATE says.
func (s *disk) writeState(x *Index, whole bool) error {
	v := x.view.Load()
	var l lines
	l.add("first", v.First)
	l.add("next", v.Next)
	l.add("documents", x.counts.live.Load())
	l.add("whole", whole)
	return l.write(s.fs, filepath.Join(s.dir, stateFile))
}

// readState returns the content of STATE, nil if it does not exist.
func (s *disk) readState() (*lines, error) {
	l, err := readLines(s.fs, filepath.Join(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", stateFile, err)
	}
	return &l, nil
}

// compareState compares the index with STATE as it was before opening. If this process has opened the index
// alone, nobody has written since.
func (s *disk) compareState(x *Index, l *lines, alone bool) error {
	v := x.view.Load()
	if l == nil {
		if v.Next == 0 {
			return nil
		}
		return fmt.Errorf("index: %s: %w", stateFile, fs.ErrNotExist)
	}
	documents := uint64(x.counts.live.Load())
	lost := v.Next < l.number("next") || v.First < l.number("first")
	if alone && l.get("whole") == "true" {
		lost = v.Next != l.number("next") || v.First != l.number("first") || documents != l.number("documents")
	}
	if lost {
		return fmt.Errorf("index: %w: the store has %d documents in slots %d to %d, and there were %s in %s to %s",
			errDamaged, documents, v.First, v.Next, l.get("documents"), l.get("first"), l.get("next"))
	}
	return nil
}

// close writes everything to tables, so that the log is empty, and releases the folder.
func (s *disk) close(x *Index) (err error) {
	whole := x.failed == nil
	if whole {
		if v := x.view.Load(); v.Next-v.settled >= chunkDocs {
			err = s.settle(x, true) // so that opening has nothing to load
		} else {
			err = s.finishSettling(x)
		}
		if err == nil {
			err = s.sync()
		}
		if err == nil {
			err = s.do(s.db.Flush)
		}
	} else {
		s.stopSettling()
	}
	err = errors.Join(err, s.closeStore())
	if err == nil && whole {
		err = s.writeState(x, true)
	}
	return errors.Join(err, s.release())
}

// closeStore closes Pebble, unless it has failed and would block.
func (s *disk) closeStore() error {
	if s.db == nil || s.err() != nil {
		return nil
	}
	_, err := s.drain()
	return errors.Join(err, s.ids.close(), s.do(s.db.Close))
}

// abandon releases everything that open has taken.
func (s *disk) abandon() error {
	return errors.Join(s.closeStore(), s.release())
}

// release unlocks the folder, or closes the snapshot.
func (s *disk) release() error {
	if s.snapshot != nil {
		return s.snapshot.close()
	}
	return s.lock.Release()
}
