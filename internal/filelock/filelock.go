// Package filelock keeps processes out of each other's folders with a lock file.
// The kernel lets go of a lock when its process ends, however that happens; the
// file that may stay behind is empty and harms nobody.
//
// Locks hold between processes, not within one. On a network file system they are
// as good as its locks are.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrTaken says that another process has the lock.
var ErrTaken = errors.New("in use by another process")

// Lock is a lock that this process holds.
type Lock struct {
	fs   vfs.FS
	path string
	held io.Closer
}

// tries is far more often than a lock file can vanish between two system calls.
const tries = 100

// Take makes the lock file if need be, in a folder that is there, and locks it. It
// does not wait: the error is ErrTaken if another process has it.
func Take(fsys vfs.FS, path string) (*Lock, error) {
	before, statErr := fsys.Stat(path)
	made := errors.Is(statErr, fs.ErrNotExist)
	lock, err := take(fsys, path, before, statErr)
	if err != nil && made && !errors.Is(err, ErrTaken) {
		_ = fsys.Remove(path)
	}
	return lock, err
}

// take is Take. A lock file is removed by the process that holds it, so a process may
// have opened it before and lock it after: it then holds a file that no name leads
// to, beside the owner of a new one. Hence the file that has the name before locking
// and the one that has it afterwards must be the same, or the lock is given back.
func take(fsys vfs.FS, path string, before vfs.FileInfo, statErr error) (*Lock, error) {
	for range tries {
		held, err := fsys.Lock(path)
		if taken(err) {
			return nil, ErrTaken
		}
		if err != nil {
			return nil, err
		}
		after, err := fsys.Stat(path)
		if err == nil && statErr == nil && sameFile(before, after) {
			return &Lock{fsys, path, held}, nil
		}
		if closeErr := held.Close(); closeErr != nil {
			return nil, closeErr
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		before, statErr = after, err
	}
	return nil, fmt.Errorf("%w, or by several that come and go", ErrTaken)
}

// Release removes the lock file and gives the lock back.
func (l *Lock) Release() error {
	removed := l.fs.Remove(l.path)
	err := l.held.Close()
	if removed != nil {
		_ = l.fs.Remove(l.path) // systems that do not remove open files
	}
	return err
}
