package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrInUse says that another process works in the folder.
var ErrInUse = errors.New("work folder in use")

// folderLock keeps other processes out of a folder. The kernel lets go of it when
// the process ends, however that happens.
type folderLock struct {
	fs   vfs.FS
	path string
	held io.Closer
}

// lockTries is far more often than a lock file can vanish between two system calls.
const lockTries = 100

// lockFolder takes the lock of a folder that is there.
//
// A lock file is removed by the process that holds it, so a process may have opened
// it before and lock it after: it then holds a file that no name leads to, beside
// the owner of a new one. Hence the file that has the name before locking and the
// one that has it afterwards must be the same, or the lock is given back.
func lockFolder(fsys vfs.FS, dir string) (*folderLock, error) {
	l := &folderLock{fs: fsys, path: fsys.PathJoin(dir, lockName)}
	before, statErr := fsys.Stat(l.path)
	for range lockTries {
		held, err := fsys.Lock(l.path)
		if lockTaken(err) {
			return nil, fmt.Errorf("%w by another process: %s; wait for it to end, or name another folder", ErrInUse, dir)
		}
		if err != nil {
			return nil, folderError("lock", dir, err)
		}
		after, err := fsys.Stat(l.path)
		if err == nil && statErr == nil && sameFile(before, after) {
			l.held = held
			return l, nil
		}
		if closeErr := held.Close(); closeErr != nil {
			return nil, folderError("lock", dir, closeErr)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, folderError("lock", dir, err)
		}
		before, statErr = after, err
	}
	return nil, fmt.Errorf("%w by other processes, which come and go: %s; name another folder", ErrInUse, dir)
}

// release removes the lock file and gives the lock back. A file that stays behind
// is empty and harms nobody.
func (l *folderLock) release() error {
	removed := l.fs.Remove(l.path)
	err := l.held.Close()
	if removed != nil {
		_ = l.fs.Remove(l.path) // systems that do not remove open files
	}
	return err
}
