package vfs

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// folder is a folder of the operating system, which keeps its names safe without being asked.
type folder struct{ file }

func (folder) Sync() error     { return nil }
func (folder) SyncData() error { return nil }

// lock opens a file that no one else may open meanwhile.
func lock(name string) (io.Closer, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// IsNoSpace tells whether an error says that the disk is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
