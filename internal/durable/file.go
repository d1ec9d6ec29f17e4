package durable

import (
	"math/rand/v2"
	"strconv"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A File is a new file that has its name when it is whole:
//
//	f, err := durable.Create(fs, path)
//	if err != nil { … }
//	defer f.Abort() // does nothing after Commit
//	f.Write(b) …
//	err = f.Commit()
//
// It belongs to one goroutine.
type File struct {
	// Volatile files need not survive a failure of the power: nothing is synced.
	Volatile bool

	fs         vfs.FS
	path, temp string
	file       vfs.File // nil when closed
	made       []string // folders that Create has made
}

// Create begins a file under a temporary name beside path, and makes its folder if need
// be. What stands under the name path stays until Commit. If path is a symbolic link,
// Commit puts the file in the place of the link, not of what that leads to.
func Create(fsys vfs.FS, path string) (*File, error) {
	// Nothing of the target's name is in it, which may be as long as a name may be.
	temp := ".alike-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	return CreateAs(fsys, path, temp)
}

// CreateAs is Create with a temporary name that the caller knows after a crash. What has
// that name is removed first.
func CreateAs(fsys vfs.FS, path, temp string) (*File, error) {
	dir := fsys.PathDir(path)
	made, err := MkdirAll(fsys, dir, 0o777)
	if err != nil {
		return nil, err
	}
	f := &File{fs: fsys, path: path, temp: fsys.PathJoin(dir, temp), made: made}
	// vfs creates exclusively, after removing what has the name: it follows no link
	// and empties no file.
	f.file, err = fsys.Create(f.temp, vfs.WriteCategoryUnspecified)
	return f, err
}

// Write appends to the file.
func (f *File) Write(p []byte) (int, error) { return f.file.Write(p) }

// Commit makes the file durable and gives it its name. After an error the name stands
// for what it stood for before, unless it was the folder that could not be synced.
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
	if err := SyncDir(f.fs, f.fs.PathDir(f.path)); err != nil {
		return err
	}
	return SyncNames(f.fs, f.made)
}

// Abort leaves nothing behind but folders. After Commit, or a second time, it does
// nothing.
func (f *File) Abort() {
	if f.file != nil {
		_ = f.file.Close() // what is in it is not wanted any more
		f.file = nil
	}
	if f.temp != "" {
		_ = f.fs.Remove(f.temp) // the error that led here says more
		f.temp = ""
	}
}
