package filelock

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/windows"

	"github.com/alike-dev/alike/vfs"
)

// taken reports whether locking failed because another process holds the lock.
func taken(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// lock locks a file. An open file cannot be removed here, so there is no need to describe it.
func lock(fsys vfs.FS, path string) (io.Closer, fs.FileInfo, error) {
	held, err := lockOn(fsys, path)
	return held, nil, err
}
