package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/index/internal/fence"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// A folder becomes an index when its header file gets its final name, which is the last step:
//
//	INDEX.new   the header, durable before anything else is made
//	store, …    the other files of a new index
//	INDEX       INDEX.new, renamed
//
// So a folder with a valid INDEX.new but no INDEX was left unfinished by a process or a power
// failure. Nothing in it was ever acknowledged, and the next process begins again. A folder with
// any other content belongs to somebody else, and is not touched.

// Create makes an index in a folder that does not exist or is empty, and opens it. A folder with an
// index that was begun but not finished counts as empty.
func Create(dir string, o OpenOptions) (x *Index, err error) {
	o.setDefaults()
	s, err := prepareFolder(o.FS, dir, o.Options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abandon())
		}
	}()
	if x, err = s.load(o, filepath.Join(dir, storeDir), false); err != nil {
		return nil, err
	}
	if err = s.writeState(x, false); err != nil {
		return nil, err
	}
	if err = s.publish(); err != nil {
		return nil, err
	}
	return x, nil
}

// OpenOrCreate opens the index in a folder, or creates it if there is none.
func OpenOrCreate(dir string, o OpenOptions) (*Index, error) {
	x, err := Open(dir, o)
	if errors.Is(err, fs.ErrNotExist) {
		return Create(dir, o)
	}
	return x, err
}

// prepareFolder takes a folder and prepares it for a new index. It is an index when publish has returned.
func prepareFolder(fsys vfs.FS, dir string, o Options) (s *disk, err error) {
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
	s = newDisk(fsys, dir)
	s.made, s.lock = made, lock
	err = s.clear()
	if err == nil {
		err = durable.SyncNames(fsys, made)
	}
	if err == nil {
		header := o.withDefaults().header()
		err = header.write(fsys, filepath.Join(dir, begunFile))
	}
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// clear removes the files that an earlier process has begun.
func (s *disk) clear() error {
	names, err := unfinished(s.fs, s.dir) // again: before the lock was taken another process may have made an index
	for _, name := range names {
		if name != lockFile && name != begunFile { // begunFile is removed last
			err = errors.Join(err, s.fs.RemoveAll(filepath.Join(s.dir, name)))
		}
	}
	return err
}

// publish turns the folder into an index.
func (s *disk) publish() error {
	err := s.fs.Rename(filepath.Join(s.dir, begunFile), filepath.Join(s.dir, headerFile))
	if err != nil {
		return err
	}
	return durable.SyncDir(s.fs, s.dir)
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
