// Package filelock keeps processes out of each other's folders with a lock file.
// The kernel lets go of a lock when its process ends, however that happens; the
// file that may stay behind is empty and harms nobody.
//
// A lock file is never opened through a link, and nothing is ever cut off or written:
// what stands under its name and is no empty file is refused as durable.ErrForeign.
//
// On a network file system locks are as good as its locks are.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
)

// ErrTaken says that another process, or another place of this one, has the lock.
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
// does not wait: the error is ErrTaken if the lock is held.
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

// take is Take. A lock file is removed by the process that holds it, so a process may
// have opened it before and lock it after: it then holds a file that no name leads
// to, beside the owner of a new one. Hence the file that was locked must still have the
// name, or the lock is given back.
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

// lockOn locks a file of a file system that is not the system's, or has no locks of
// its own kind.
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

// Release removes the lock file and gives the lock back.
func (l *Lock) Release() error {
	removed := l.fs.Remove(l.path)
	err := l.held.Close()
	if removed != nil {
		_ = l.fs.Remove(l.path) // systems that do not remove open files
	}
	return err
}
