package index

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/filelock"
)

// ErrInUse says that another process has the index open.
var ErrInUse = filelock.ErrTaken

// OpenOptions say how an index in a folder is opened.
type OpenOptions struct {
	// Options has the window, and the recipe if that cannot be had from the header. If it has a
	// recipe it must be the one of the header, else the error is ErrOther.
	Options
	ReadOnly bool
	Threads  int    // that read what memory holds; 0: all processors
	FS       vfs.FS // nil: that of the system
}

func (o *OpenOptions) setDefaults() {
	if o.FS == nil {
		o.FS = vfs.Default
	}
}

// Create makes an index in a folder that is not there or empty, and opens it.
func Create(dir string, o OpenOptions) (*Index, error) {
	o.setDefaults()
	if err := o.Options.Validate(); err != nil {
		return nil, err
	}
	made, err := durable.MkdirAll(o.FS, dir, 0o777)
	if err != nil {
		return nil, err
	}
	names, err := o.FS.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name != lockFile && name != storeDir { // what a process leaves that ended before the header was there
			return nil, fmt.Errorf("index: %s is not empty: %w", dir, fs.ErrExist)
		}
	}
	lock, err := takeLock(o.FS, dir)
	if err != nil {
		return nil, err
	}
	header := o.withDefaults().header()
	err = errors.Join(o.FS.RemoveAll(o.FS.PathJoin(dir, storeDir)), durable.SyncNames(o.FS, made))
	if err == nil {
		err = header.write(o.FS, o.FS.PathJoin(dir, headerFile))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return open(dir, o, lock)
}

// Open opens the index in a folder. One process at a time has it open: for others the error is
// ErrInUse.
func Open(dir string, o OpenOptions) (*Index, error) {
	o.setDefaults()
	if _, err := o.FS.Stat(o.FS.PathJoin(dir, headerFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("index: there is none in %s: %w", dir, fs.ErrNotExist)
	}
	lock, err := takeLock(o.FS, dir)
	if err != nil {
		return nil, err
	}
	return open(dir, o, lock)
}

func takeLock(fsys vfs.FS, dir string) (*filelock.Lock, error) {
	lock, err := filelock.Take(fsys, fsys.PathJoin(dir, lockFile))
	if err != nil {
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
	store := o.FS.PathJoin(dir, storeDir)
	if o.ReadOnly {
		if _, err := o.FS.Stat(store); errors.Is(err, fs.ErrNotExist) {
			o.ReadOnly = false // created, and nothing more: the store is empty and can be made
		}
	}
	err = s.do(func() (err error) {
		s.db, err = pebble.Open(store, s.storeOptions(o.ReadOnly))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("index: %s: %w", store, asDamage(err))
	}
	x = newIndex(o.withDefaults())
	x.store = s
	if err := x.load(s, o.Threads); err != nil {
		return nil, err
	}
	if err := s.compareState(x); err != nil {
		return nil, err
	}
	if o.ReadOnly {
		x.failed = fmt.Errorf("%w: it was opened so", ErrReadOnly)
		return x, nil
	}
	return x, s.writeState(x, false)
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

func (s *disk) compareState(x *Index) error {
	l, err := readLines(s.fs, s.fs.PathJoin(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) && x.view.Load().Next == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("index: %s: %w", stateFile, err)
	}
	v := x.view.Load()
	documents := uint64(x.counts.live.Load())
	lost := v.Next < l.number("next") || v.First < l.number("first")
	if l.get("whole") == "true" {
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
	return errors.Join(s.closeStore(), s.lock.Release())
}

// closeStore closes Pebble, unless that has failed and does nothing any more.
func (s *disk) closeStore() error {
	if s.db == nil || s.failed.Load() != nil {
		return nil
	}
	return s.do(s.db.Close)
}

// close writes everything to tables, so that the log is empty, and lets go of the folder.
func (s *disk) close(x *Index) (err error) {
	whole := x.failed == nil
	if whole {
		if err = s.sync(); err == nil {
			err = s.do(s.db.Flush)
		}
	}
	err = errors.Join(err, s.closeStore())
	if err == nil && whole {
		err = s.writeState(x, true)
	}
	return errors.Join(err, s.lock.Release())
}
