package index

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/index/internal/table"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
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
	// Beside is how many bytes of Memory the rest of the process needs.
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

func (o *OpenOptions) setDefaults() {
	if o.FS == nil {
		o.FS = vfs.Default
	}
}

// share sets the options that are shares of Memory. It is called when Options.Keys is known.
func (o *OpenOptions) share() {
	if o.Memory == 0 {
		return
	}
	memory := max(o.Memory-o.Beside, 0)
	cache := max(memory/cacheShare, leastCache)
	if o.Keys == KeysOnDisk {
		cache = max(memory/4, min(memory/2, defaultCache))
		o.TailKeys = cmp.Or(o.TailKeys, int(min(memory/4/tailKeyBytes, DefaultTailKeys)))
	}
	o.Cache = cmp.Or(o.Cache, cache)
	o.memTable = cmp.Or(o.memTable, uint64(min(max(memory/cacheShare, 1<<20), memTableSize)))
}

const (
	cacheShare   = 16 // one in so many bytes of the ceiling is for the cache, with keys in memory
	leastCache   = 16 << 20
	tailKeyBytes = 64        // for a key that is not settled: the table, its growth and the documents' facts
	program      = 24 << 20  // with Pebble
	leastOnDisk  = 160 << 20 // with KeysOnDisk a growing index stays below this
	mostBeside   = 104 << 20 // for Pebble's tables in memory and documents on their way, or as many bytes as are held
)

// ceilingFor returns the least OpenOptions.Memory for an index that holds so many bytes in memory. It adds
// a tenth, which is needed while shards of the table grow.
func ceilingFor(held int64) int64 {
	needed := held + held/10 + program + min(held, mostBeside)
	return max(needed+leastCache, needed/(cacheShare-1)*cacheShare)
}

// ErrMemory says that an index with its keys in memory needs more than OpenOptions.Memory.
var ErrMemory = errors.New("index: too large for memory")

// fits is an error if memory has no room for held bytes of documents in addition to beside bytes of other
// data. The error names the ceiling for expected bytes.
func (x *Index) fits(documents uint64, held, expected, beside int64) error {
	if least := leastOnDisk + beside; x.options.Keys == KeysOnDisk && beside > 0 && 0 < x.ceiling && x.ceiling < least {
		return setting.Errorf("%w beside what the process does with it: give it %s %s or more", ErrMemory, setting.Memory, roundUp(least))
	}
	if x.ceiling == 0 || x.options.Keys == KeysOnDisk || ceilingFor(held)+beside <= x.ceiling {
		return nil
	}
	return setting.Errorf("%w: of its %s documents it holds %s there: give it %s %s or more, or make it with %s %s",
		ErrMemory, humanize.Comma(int64(documents)), humanize.IBytes(uint64(expected)), setting.Memory, roundUp(ceilingFor(expected)+beside), setting.Keys, KeysOnDisk)
}

// Memory returns how many bytes of memory the index takes while nothing is added to it.
func (x *Index) Memory() int64 {
	v := x.view.Load()
	held := v.tableBytes() + v.slotBytes()
	if s, ok := x.store.(*disk); ok {
		held += s.cache
	}
	return held
}

// FitsBeside is an error of the kind ErrMemory if OpenOptions.Memory has no room for so many more
// documents, with keys of the recipe only, in addition to so many bytes of other data. The error says how
// much would suffice.
func (x *Index) FitsBeside(documents, others int64) error {
	v := x.view.Load()
	if x.options.Keys == KeysOnDisk {
		return nil
	}
	x.write.Lock()
	keys := v.table.Len() + int(documents)*(x.options.Recipe.Keys()+1)
	x.write.Unlock()
	held := max(v.table.Bytes(), table.GrownBytes(keys)) + v.slotBytes() + documents*slotSize(x.judge.words)
	return x.fits(v.Next-v.First+uint64(documents), held, held, max(others, x.beside))
}

// hasRoom is an error if memory has no room for more documents. It is cheap as long as few documents have
// come since the last check.
func (x *Index) hasRoom() error {
	v := x.view.Load()
	if x.ceiling == 0 || v.Next < x.asked+chunkDocs {
		return nil
	}
	held := v.table.Bytes() + v.slotBytes()
	err := x.fits(v.Next-v.First, held, held, x.beside)
	if err == nil {
		x.asked = v.Next
	}
	return err
}

// roundUp writes a number of bytes as whole MiB, rounded up.
func roundUp(bytes int64) string { return fmt.Sprintf("%dMiB", (bytes+1<<20-1)>>20) }

// Open opens the index in a folder. Only one process at a time can have it open for writing: others get
// ErrInUse.
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

// isFolder is an error if the path is a file.
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
	if x, err = s.load(o, o.FS.PathJoin(dir, storeDir), false); err != nil {
		return nil, err
	}
	if err := s.compareState(x, state, true); err != nil {
		return nil, err
	}
	return x, s.writeState(x, false)
}

// load opens the store and reads from it the data that memory holds.
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
	x.store, x.ceiling, x.beside = s, o.Memory, o.Beside
	return x, x.load(s, o.Threads)
}

// openBeside opens an index as it is now, even while another process writes to it.
func openBeside(dir string, o OpenOptions) (x *Index, err error) {
	if o.Options, err = readHeader(o.FS, dir, o.Options); err != nil {
		return nil, err
	}
	store := o.FS.PathJoin(dir, storeDir)
	for range snapshotTries {
		s := newDisk(o.FS, dir)
		state, err := s.readState() // before the store, so that it can only be older
		if err != nil {
			return nil, err
		}
		if s.snapshot, err = takeSnapshot(o.FS, store); err != nil {
			return nil, err
		}
		s.fs = s.snapshot
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

// STATE records, apart from the store, how far the index was. A store that has lost its end has no wrong
// checksum, but fewer slots than STATE says.
func (s *disk) writeState(x *Index, whole bool) error {
	v := x.view.Load()
	var l lines
	l.add("first", v.First)
	l.add("next", v.Next)
	l.add("documents", x.counts.live.Load())
	l.add("whole", whole)
	return l.write(s.fs, s.fs.PathJoin(s.dir, stateFile))
}

// readState returns the content of STATE, nil if it does not exist.
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

// closeStore closes Pebble, unless it has failed and would block.
func (s *disk) closeStore() error {
	if s.db == nil || s.failed.Load() != nil {
		return nil
	}
	_, err := s.drain()
	return errors.Join(err, s.ids.close(), s.do(s.db.Close))
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
