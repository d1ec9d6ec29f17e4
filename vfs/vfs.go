// Package vfs is the file system that alike keeps its own files on: work folders, outputs, indexes.
//
//   - OS is the operating system's, which everything uses unless it is told otherwise.
//   - Another one, given as index.OpenOptions.FS, may add something to it (see FS.Unwrap) or hold files elsewhere.
//   - Package vfstest has one in memory that tells what a failure of the power leaves, and one whose operations fail:
//     for tests.
//
// Files that a user names and that are only read are opened with package os.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// File is an open file, or a folder that was opened to be synced.
type File interface {
	io.Closer
	io.Reader
	io.ReaderAt
	io.Writer   // it may change the bytes that it is given
	io.WriterAt // as well; only after OpenReadWrite
	Stat() (fs.FileInfo, error)
	// Sync returns when content and attributes are safe on disk. In a folder these are its names.
	Sync() error
	// SyncData is Sync without the attributes that reading does not need.
	SyncData() error
}

// FS is a name space of files. Names are those of package path/filepath. Errors match fs.ErrNotExist and the others of
// package io/fs.
type FS interface {
	// Create makes a file, for writing and reading. What has the name is removed before, never opened or truncated.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// OpenReadWrite opens a file for both, and makes it if there is none.
	OpenReadWrite(name string) (File, error)
	// OpenDir opens a folder to sync it.
	OpenDir(name string) (File, error)
	// Link gives a file a second name.
	Link(oldname, newname string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// RemoveAll removes a file, or a folder with all that is in it.
	RemoveAll(name string) error
	// Rename renames a file. A file with the new name is replaced.
	Rename(oldname, newname string) error
	// MkdirAll makes a folder and its parents.
	MkdirAll(dir string, perm fs.FileMode) error
	// Lock locks a file until the result is closed, and makes the file if there is none. That of OS works on Windows
	// only: elsewhere alike itself locks files of the operating system.
	Lock(name string) (io.Closer, error)
	// List returns the names in a folder, in any order.
	List(dir string) ([]string, error)
	// Stat describes a file. It follows links.
	Stat(name string) (fs.FileInfo, error)
	// Unwrap returns the file system that this one adds something to, or nil if it stands alone.
	Unwrap() FS
}

// Root returns the file system below all that add something to it.
func Root(on FS) FS {
	for below := on.Unwrap(); below != nil; below = on.Unwrap() {
		on = below
	}
	return on
}

// OS is the file system of the operating system.
var OS FS = system{}

type system struct{}

// opened is a file of the operating system. It must not be a nil pointer in an interface.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// file is a file of the operating system: dataSync is what the system has for SyncData.
type file struct{ *os.File }

func (f file) SyncData() error { return dataSync(f.File) }

func (system) Create(name string) (File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return opened(f, err)
		}
		// Another process may make the file again at any moment: hence the loop.
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

func (system) Open(name string) (File, error) { return opened(os.Open(name)) }

func (system) OpenReadWrite(name string) (File, error) {
	return opened(os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666))
}

func (system) OpenDir(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return folder{file{f}}, nil
}

func (system) Link(oldname, newname string) error          { return os.Link(oldname, newname) }
func (system) Remove(name string) error                    { return os.Remove(name) }
func (system) RemoveAll(name string) error                 { return os.RemoveAll(name) }
func (system) Rename(oldname, newname string) error        { return os.Rename(oldname, newname) }
func (system) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (system) Lock(name string) (io.Closer, error)         { return lock(name) }
func (system) Stat(name string) (fs.FileInfo, error)       { return os.Stat(name) }
func (system) Unwrap() FS                                  { return nil }

func (system) List(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
