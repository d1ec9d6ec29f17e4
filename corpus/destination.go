package corpus

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A fileDestination is a file under a temporary name, which gets its own when it
// is committed.
type fileDestination struct {
	fs         vfs.FS
	path, temp string
	file       vfs.File // nil when closed
	unsynced   []string // folders with entries that are not on disk yet
	volatile   bool     // needs not survive a power failure
}

// createFile makes the temporary file of path, and its folder if need be.
func createFile(fs vfs.FS, path string) (*fileDestination, error) {
	d := &fileDestination{fs: fs, path: path}
	if err := d.makeFolder(fs.PathDir(path)); err != nil {
		return nil, err
	}
	return d, d.openTemp()
}

// makeFolder makes a folder, and notes which folders have got a new entry.
func (d *fileDestination) makeFolder(dir string) error {
	d.unsynced = append(d.unsynced, dir)
	for at := dir; ; {
		if _, err := d.fs.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parent := d.fs.PathDir(at)
		if parent == at {
			break
		}
		d.unsynced = append(d.unsynced, parent)
		at = parent
	}
	return d.fs.MkdirAll(dir, 0o777)
}

// openTemp makes the temporary file, with the permissions of any new file. Its
// name has nothing of the target's, which may be as long as a name may be.
func (d *fileDestination) openTemp() (err error) {
	d.temp = d.fs.PathJoin(d.fs.PathDir(d.path), ".alike-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
	d.file, err = d.fs.Create(d.temp, vfs.WriteCategoryUnspecified)
	return err
}

func (d *fileDestination) Write(p []byte) (int, error) { return d.file.Write(p) }

func (d *fileDestination) Commit() error {
	if !d.volatile {
		if err := d.file.Sync(); err != nil {
			return err
		}
	}
	err := d.file.Close()
	d.file = nil
	if err != nil {
		return err
	}
	if err := d.fs.Rename(d.temp, d.path); err != nil {
		return err
	}
	d.temp = ""
	if d.volatile {
		return nil
	}
	for _, dir := range d.unsynced {
		if err := syncFolder(d.fs, dir); err != nil {
			return err
		}
	}
	return nil
}

func (d *fileDestination) Abort() {
	if d.file != nil {
		_ = d.file.Close() // what is in it is not wanted any more
		d.file = nil
	}
	if d.temp != "" {
		_ = d.fs.Remove(d.temp) // the error that led here says more
		d.temp = ""
	}
}

// syncFolder makes a rename durable. Where folders cannot be synced it does
// nothing.
func syncFolder(on vfs.FS, dir string) error {
	d, err := on.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
