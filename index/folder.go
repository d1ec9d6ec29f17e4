package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
	pebblefs "github.com/cockroachdb/pebble/v2/vfs"
)

// ErrInUse says that another process has opened the index for writing.
var ErrInUse = filelock.ErrTaken

// A folder becomes an index when its header file gets its final name, which is the last step:
//
//	INDEX.new   the header, durable before anything else is made
//	store, …    the other files of a new index
//	INDEX       INDEX.new, renamed
//
// So a folder with a valid INDEX.new but no INDEX was left unfinished by a process or a power
// failure. Nothing in it was ever acknowledged, and the next process begins again. A folder with
// any other content belongs to somebody else, and is not touched.

// A folder is where an index is: its files but for what Pebble keeps in the store.
type folder struct {
	fs       vfs.FS
	dir      string
	made     []string       // folders that this process has made
	lock     *filelock.Lock // nil: read-only
	snapshot *snapshot      // read instead of the folder if read-only; else nil
}

// forPebble returns the file system for Pebble, which calls failed when a write has failed.
func (f *folder) forPebble(failed func(error)) pebblefs.FS {
	if f.snapshot != nil {
		return f.snapshot
	}
	return &guarded{f.fs, failed}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// STATE records, apart from the store, how far the index was. A store that has lost its end has no wrong
// checksum, but fewer slots than STATE says.
func (f *folder) writeState(x *collection, whole bool) error {
	v := x.view.Load()
	var l lines
	l.add("first", v.First)
	l.add("next", v.Next)
	l.add("documents", x.counts.live.Load())
	l.add("whole", whole)
	return l.write(f.fs, f.path(stateFile))
}

// readState returns the content of STATE, nil if it does not exist.
func (f *folder) readState() (*lines, error) {
	l, err := readLines(f.fs, f.path(stateFile))
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
func (f *folder) compareState(x *collection, l *lines, alone bool) error {
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

// release unlocks the folder, or closes the snapshot.
func (f *folder) release() error {
	if f.snapshot != nil {
		return f.snapshot.close()
	}
	return f.lock.Release()
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

// clear removes the files that an earlier process has begun.
func (f *folder) clear() error {
	names, err := unfinished(f.fs, f.dir) // again: before the lock was taken another process may have made an index
	for _, name := range names {
		if name != lockFile && name != begunFile { // begunFile is removed last
			err = errors.Join(err, f.fs.RemoveAll(f.path(name)))
		}
	}
	return err
}

// publish turns the folder into an index.
func (f *folder) publish() error {
	err := f.fs.Rename(f.path(begunFile), f.path(headerFile))
	if err != nil {
		return err
	}
	return durable.SyncDir(f.fs, f.dir)
}

// unfinished returns the names of the files in a folder that is empty or has an unfinished index.
// If there is any other file, the error is fs.ErrExist.
func unfinished(fsys vfs.FS, dir string) (names []string, err error) {
	if names, err = fsys.List(dir); err != nil {
		return nil, err
	}
	_, err = readLines(fsys, filepath.Join(dir, begunFile))
	begun := err == nil
	for _, name := range names {
		if mayBeLeft(name, begun) {
			continue
		}
		holds := "is not empty (it holds " + name + "): name another folder, or empty it"
		if slices.Contains(names, headerFile) {
			holds = "holds an index already: add to it, or name another folder"
		}
		return nil, fmt.Errorf("index: %s %s: %w", dir, holds, fs.ErrExist)
	}
	return names, nil
}

// mayBeLeft tells whether a file of this name may have been left by a process that was making an
// index and had got as far as its header (begun) or not.
func mayBeLeft(name string, begun bool) bool {
	if name == lockFile || name == begunFile+newSuffix {
		return true
	}
	return begun && (name == begunFile || name == storeDir || name == stateFile || name == stateFile+newSuffix || name == sortDir || isSettleFile(name))
}

// CheckOwn tells whether all that a folder holds may be of an index: if not it belongs to somebody else, and the error
// is fs.ErrExist. If there is no folder it is fs.ErrNotExist.
func CheckOwn(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	for _, name := range names {
		if name != headerFile && !mayBeLeft(name, true) {
			return fmt.Errorf("index: %s has %s, which is no file of an index: %w", fault.Shown(dir), fault.Shown(name), fs.ErrExist)
		}
	}
	return err
}

// sweep removes the files of a process that ended while it settled documents or made the index.
func (f *folder) sweep() error {
	names, err := f.fs.List(f.dir)
	for _, name := range names {
		if name == begunFile || isSettleFile(name) {
			err = errors.Join(err, f.fs.Remove(f.path(name)))
		}
	}
	return err
}

// prepareFolder takes a folder and prepares it for a new index. It is an index when publish has returned.
func prepareFolder(fsys vfs.FS, dir string, o Options) (f *folder, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := isFolder(fsys, dir); err != nil {
		return nil, err
	}
	fsys = fence.Around(fsys, dir)
	made, err := durable.MkdirAll(fsys, dir, 0o777)
	if err != nil {
		return nil, err
	}
	if _, err := unfinished(fsys, dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(fsys, dir)
	if err != nil {
		return nil, err
	}
	f = &folder{fs: fsys, dir: dir, made: made, lock: lock}
	err = f.clear()
	if err == nil {
		err = durable.SyncNames(fsys, made)
	}
	if err == nil {
		header := o.withDefaults().header()
		err = header.write(fsys, f.path(begunFile))
	}
	if err != nil {
		err = errors.Join(err, f.release())
		f.removeMade()
		return nil, err
	}
	return f, nil
}

// removeMade removes the folders that this process has made, but for those in which another one has put something.
func (f *folder) removeMade() {
	for _, dir := range f.made {
		_ = f.fs.Remove(dir)
	}
}
