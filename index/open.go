package index

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
)

// ErrInUse says that another process has the index open to write.
var ErrInUse = filelock.ErrTaken

// OpenOptions say how an index in a folder is opened.
type OpenOptions struct {
	// Options has the window, and the recipe if that cannot be had from the header. What is set of recipe,
	// Keys and BucketCap must be as in the header, else the error is ErrOther.
	Options
	// ReadOnly opens the index as it is now. Nothing is written, any number of processes may do
	// so, also beside one that writes, and none waits for another.
	ReadOnly bool
	Threads  int // that read what memory holds; 0: all processors
	// Memory is a ceiling for the resident bytes of a process that does little else; 0: none. Cache and
	// TailKeys are shares of it then, unless they are set. An index with keys in memory that needs more
	// is refused with ErrMemory, which says how much, before that is taken; one that has come to need
	// more takes no more documents.
	Memory int64
	// Cache is how many bytes of the store memory keeps at most; 0: 64 MiB, with KeysOnDisk 256 MiB. There
	// a key that is not there costs no read as long as 1.7 bytes of it are there for each key: 29 for a
	// document of the default recipe.
	Cache int64
	// TailKeys is how many keys memory holds with KeysOnDisk: half of them may be on their way to the disk.
	// A writer that brings more than the disk takes is slowed down, by some milliseconds a batch;
	// 0: DefaultTailKeys.
	TailKeys int
	FS       vfs.FS // nil: that of the system

	memTable uint64 // bytes of a table of Pebble in memory; 0 but in tests: memTableSize
}

func (o *OpenOptions) setDefaults() {
	if o.FS == nil {
		o.FS = vfs.Default
	}
}

// share sets what is a share of Memory. It is called when it is known where keys are.
func (o *OpenOptions) share() {
	if o.Memory == 0 {
		return
	}
	cache := max(o.Memory/cacheShare, leastCache)
	if o.Keys == KeysOnDisk {
		cache = max(o.Memory/4, defaultCache)
		o.TailKeys = cmp.Or(o.TailKeys, int(min(o.Memory/4/tailKeyBytes, DefaultTailKeys)))
	}
	o.Cache = cmp.Or(o.Cache, cache)
	o.memTable = cmp.Or(o.memTable, uint64(min(max(o.Memory/cacheShare, 1<<20), memTableSize)))
}

const (
	cacheShare   = 16 // of the ceiling is for the cache, with keys in memory
	leastCache   = 16 << 20
	tailKeyBytes = 64        // of a key that is not settled: of the table, its growth and the documents' facts
	program      = 24 << 20  // with Pebble
	mostBeside   = 104 << 20 // are for Pebble's tables in memory and for documents on their way, or as many as are held
)

// ceilingFor returns the least OpenOptions.Memory for an index of which memory holds so many bytes, a
// tenth more while shards of its table are filled anew.
func ceilingFor(held int64) int64 {
	needed := held + held/10 + program + min(held, mostBeside)
	return max(needed+leastCache, needed/(cacheShare-1)*cacheShare)
}

// ErrMemory says that an index with its keys in memory needs more of it than OpenOptions.Memory.
var ErrMemory = errors.New("index: too large for memory")

// fits is an error if memory would hold more bytes of documents than there is room for. It names the ceiling for
// those that are expected.
func (x *Index) fits(documents uint64, held, expected int64) error {
	if x.ceiling == 0 || x.options.Keys == KeysOnDisk || ceilingFor(held) <= x.ceiling {
		return nil
	}
	return setting.Errorf("%w: of its %s documents it holds %s there: give it %s %s or more, or make it with %s %s",
		ErrMemory, humanize.Comma(int64(documents)), humanize.IBytes(uint64(expected)), setting.Memory, roundUp(ceilingFor(expected)), setting.Keys, KeysOnDisk)
}

// hasRoom is an error if memory has no room for more documents. It is cheap as long as few have come
// since it was asked last.
func (x *Index) hasRoom() error {
	v := x.view.Load()
	if x.ceiling == 0 || v.Next < x.asked+chunkDocs {
		return nil
	}
	held := v.table.Bytes() + v.slotBytes()
	err := x.fits(v.Next-v.First, held, held)
	if err == nil {
		x.asked = v.Next
	}
	return err
}

// roundUp writes a number of bytes as whole MiB, none too few.
func roundUp(bytes int64) string { return fmt.Sprintf("%dMiB", (bytes+1<<20-1)>>20) }

// Open opens the index in a folder. One process at a time has it open to write: for others the
// error is ErrInUse.
func Open(dir string, o OpenOptions) (*Index, error) {
	o.setDefaults()
	if err := isFolder(o.FS, dir); err != nil {
		return nil, err
	}
	if _, err := o.FS.Stat(o.FS.PathJoin(dir, headerFile)); errors.Is(err, fs.ErrNotExist) {
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

// isFolder is an error if a path is that of a file.
func isFolder(fsys vfs.FS, path string) error {
	if info, err := fsys.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file; name the folder of an index", fault.Shown(path))
	}
	return nil
}

func takeLock(fsys vfs.FS, dir string) (*filelock.Lock, error) {
	lock, err := filelock.Take(fsys, fsys.PathJoin(dir, lockFile))
	if err != nil {
		if errors.Is(err, ErrInUse) {
			err = fmt.Errorf("%w, and one at a time writes: wait until it has ended", err)
		}
		return nil, fmt.Errorf("index: %s: %w", dir, err)
	}
	return lock, nil
}

func open(dir string, o OpenOptions, lock *filelock.Lock) (x *Index, err error) {
	s := &disk{fs: o.FS, dir: dir, lock: lock, broken: make(chan struct{})}
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
	if x, err = s.load(o, o.FS.PathJoin(dir, storeDir), false); err != nil {
		return nil, err
	}
	if err := s.compareState(x, state, true); err != nil {
		return nil, err
	}
	return x, s.writeState(x, false)
}

// load opens the store and reads from it what memory holds.
func (s *disk) load(o OpenOptions, store string, readOnly bool) (*Index, error) {
	o.share()
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
	x.store, x.ceiling = s, o.Memory
	return x, x.load(s, o.Threads)
}

// openBeside opens an index as it is now, whether a process writes to it or not.
func openBeside(dir string, o OpenOptions) (x *Index, err error) {
	if o.Options, err = readHeader(o.FS, dir, o.Options); err != nil {
		return nil, err
	}
	store := o.FS.PathJoin(dir, storeDir)
	for range snapshotTries {
		s := &disk{fs: o.FS, dir: dir, broken: make(chan struct{})}
		state, err := s.readState() // before the store: it may only be behind
		if err != nil {
			return nil, err
		}
		if s.snapshot, err = takeSnapshot(o.FS, store); err != nil {
			return nil, err
		}
		s.fs = s.snapshot
		names, err := s.snapshot.List(store)
		if err == nil {
			// Of an index that was created, and nothing more, the store is made in memory.
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

// State tells, apart from the store, how far the index was. Of a store that has lost its end
// no checksum is wrong; it has fewer slots than this says.
func (s *disk) writeState(x *Index, whole bool) error {
	v := x.view.Load()
	var l lines
	l.add("first", v.First)
	l.add("next", v.Next)
	l.add("documents", x.counts.live.Load())
	l.add("whole", whole)
	return l.write(s.fs, s.fs.PathJoin(s.dir, stateFile))
}

// readState returns what STATE says, nil if it is not there.
func (s *disk) readState() (*lines, error) {
	l, err := readLines(s.fs, s.fs.PathJoin(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", stateFile, err)
	}
	return &l, nil
}

// compareState compares the index with what STATE said before it was opened. Nobody else
// has written since if it was opened alone.
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

// abandon lets everything go that open has taken.
func (s *disk) abandon() error {
	return errors.Join(s.closeStore(), s.release())
}

// release lets go of the folder.
func (s *disk) release() error {
	if s.snapshot != nil {
		return s.snapshot.close()
	}
	return s.lock.Release()
}

// closeStore closes Pebble, unless that has failed and does nothing any more.
func (s *disk) closeStore() error {
	if s.db == nil || s.failed.Load() != nil {
		return nil
	}
	return errors.Join(s.ids.close(), s.do(s.db.Close))
}

// close writes everything to tables, so that the log is empty, and lets go of the folder.
func (s *disk) close(x *Index) (err error) {
	whole := x.failed == nil
	if whole {
		v := x.view.Load()
		if err = s.settle(x, v.Next-v.settled >= chunkDocs); err == nil { // so that to open it is nothing
			err = s.settled(x)
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
