package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/internal/filelock"
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
