// Package filelock keeps processes out of each other's folders with a lock file. The kernel
// releases a lock when its process ends, however it ends; the file that may stay behind is empty
// and does no harm.
//
// A lock file is never opened through a link, truncated or written: anything under its name that is
// not an empty file is refused as durable.ErrForeign.
//
// Create and MakeFolder make files and folders that are found again, and removed, when the process that made them was
// killed.
//
// On a network file system these locks are only as reliable as those of that system.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// ErrTaken says that another process, or another lock of this process, holds the lock.
var ErrTaken = errors.New("in use by another process")

// Lock is a lock that this process holds.
type Lock struct {
	fs   vfs.FS
	path string
	held io.Closer
}

// tries is far more often than a lock file can vanish between two system calls.
const tries = 100

// Take makes the lock file if necessary, in an existing folder, and locks it. It does not wait: the
// error is ErrTaken if the lock is held.
func Take(fsys vfs.FS, path string) (*Lock, error) {
	_, err := durable.Lstat(fsys, path)
	made := errors.Is(err, fs.ErrNotExist)
	held, err := take(fsys, path)
	if err == nil {
		return &Lock{fsys, path, held}, nil
	}
	if made && !errors.Is(err, ErrTaken) {
		_ = fsys.Remove(path)
	}
	return nil, err
}

// take is Take. The process that holds a lock file removes it, so another process may have opened
// the file before that and lock it afterwards: it then holds a file without a name, while a third
// process may hold a new one. Hence take checks after locking that the name still leads to this
// file, and otherwise gives the lock back and tries again.
func take(fsys vfs.FS, path string) (io.Closer, error) {
	for range tries {
		held, info, err := lock(fsys, path)
		if err != nil {
			return nil, err
		}
		now, err := durable.Lstat(fsys, path)
		if err == nil && (info == nil || durable.SameFile(info, now)) {
			return held, nil
		}
		if closeErr := held.Close(); closeErr != nil {
			return nil, closeErr
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w, or by several that come and go", ErrTaken)
}

// lockOn locks a file through vfs: in a file system other than the operating system's, and on
// Windows.
func lockOn(fsys vfs.FS, path string) (io.Closer, error) {
	info, err := durable.Lstat(fsys, path)
	if err == nil {
		err = durable.CheckEmpty(path, info)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	held, err := fsys.Lock(path)
	if taken(err) {
		return nil, ErrTaken
	}
	return held, err
}

// Release removes the lock file and releases the lock.
func (l *Lock) Release() error {
	removed := l.fs.Remove(l.path)
	err := l.held.Close()
	if removed != nil {
		_ = l.fs.Remove(l.path) // for systems that do not remove open files
	}
	return err
}
