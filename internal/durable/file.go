package durable

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"

	"github.com/alike-dev/alike/vfs"
)

// A File is a new file that gets its name only when it is whole:
//
//	f, err := durable.Create(fs, path)
//	if err != nil { … }
//	defer f.Abort() // does nothing after Commit
//	f.Write(b) …
//	err = f.Commit()
//
// It belongs to one goroutine.
type File struct {
	// Volatile files need not survive a power failure: nothing is synced.
	Volatile bool

	fs         vfs.FS
	path, temp string
	file       vfs.File // nil when closed
	made       []string // folders that Create has made

	written, begun int64 // bytes in the file, and how many of them are asked to be on disk
}

// writebackBytes are written before the system is asked to begin with them.
const writebackBytes = 1 << 20

// Create begins a file under a temporary name next to path, and makes its folder if necessary. An
// existing file at path stays until Commit. If path is a symbolic link, Commit replaces the link,
// not its target.
func Create(fsys vfs.FS, path string) (*File, error) {
	// The target's name is not part of it: that name may already have the maximal length.
	temp := ".alike-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	return CreateAs(fsys, path, temp)
}

// CreateAs is Create with a temporary name that the caller still knows after a crash. An existing
// file of that name is removed first.
func CreateAs(fsys vfs.FS, path, temp string) (*File, error) {
	dir := filepath.Dir(path)
	made, err := MkdirAll(fsys, dir, 0o777)
	if err != nil {
		return nil, err
	}
	f := &File{fs: fsys, path: path, temp: filepath.Join(dir, temp), made: made}
	// vfs removes what has the name and then creates exclusively: it follows no link and truncates
	// no file.
	f.file, err = fsys.Create(f.temp)
	return f, err
}

func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if f.written += int64(n); !f.Volatile && f.written-f.begun >= writebackBytes {
		StartWriteback(f.file, f.begun, f.written-f.begun)
		f.begun = f.written
	}
	return n, err
}

// Commit makes the file durable and gives it its name. After an error, path names what it named
// before, unless the error came from syncing the folder.
func (f *File) Commit() error {
	if !f.Volatile {
		if err := f.file.Sync(); err != nil {
			return err
		}
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return err
	}
	if err := f.fs.Rename(f.temp, f.path); err != nil {
		return err
	}
	f.temp = ""
	if f.Volatile {
		return nil
	}
	if err := SyncDir(f.fs, filepath.Dir(f.path)); err != nil {
		return err
	}
	return SyncNames(f.fs, f.made)
}

// Abort removes the file; folders that Create has made stay. After Commit, or a second time, it
// does nothing.
func (f *File) Abort() {
	if f.file != nil {
		_ = f.file.Close() // its content is no longer needed
		f.file = nil
	}
	if f.temp != "" {
		_ = f.fs.Remove(f.temp) // the error that led here says more
		f.temp = ""
	}
}
