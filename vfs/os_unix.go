//go:build unix

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// folder is a folder of the operating system, which is synced as a file is.
type folder struct{ file }

func lock(name string) (io.Closer, error) {
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errors.ErrUnsupported}
}

// IsNoSpace tells whether an error says that the disk is full.
func IsNoSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) }
