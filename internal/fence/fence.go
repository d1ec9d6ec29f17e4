// Package fence is the file system that is given to a library which keeps files in a folder of
// alike: it opens them by the rules of package durable, whatever the library itself would do.
//
//   - A file or folder that is a symbolic link, or lies below one, is refused as
//     durable.ErrForeign; so is a file that is a device or a pipe.
//   - A lock file is taken as package filelock takes it: never truncated.
//   - A file with a second name (hard link) may be read, but is never written.
//
// The folder itself is the user's choice: it may be a link.
package fence

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// Around returns fsys with the rules applied to all names in a folder. A file system in memory has
// no links, and is returned as it is.
func Around(fsys vfs.FS, folder string) vfs.FS {
	if !durable.OnSystem(fsys) {
		return fsys
	}
	return &fenced{fsys, filepath.Join(folder)}
}

type fenced struct {
	vfs.FS
	folder string
}

// Unwrap returns the underlying file system.
func (f *fenced) Unwrap() vfs.FS { return f.FS }

// inside returns the folders between the outermost one and a name, from the name up. A name that
// is not inside it is the caller's affair.
func (f *fenced) inside(name string) (between []string, ok bool) {
	for name = filepath.Join(name); name != f.folder; {
		up := filepath.Dir(name)
		switch up {
		case name:
			return nil, false
		case f.folder:
			return between, true
		}
		between = append(between, up)
		name = up
	}
	return nil, false
}

// above checks the folders that a name lies in.
func (f *fenced) above(name string) error {
	between, _ := f.inside(name)
	for _, dir := range slices.Backward(between) {
		if err := durable.CheckDir(f.FS, dir); err != nil {
			return err
		}
	}
	return nil
}

// dir checks a folder and those above it.
func (f *fenced) dir(name string) error { return f.above(filepath.Join(name, "any")) }

func (f *fenced) Open(name string) (vfs.File, error) {
	if err := f.above(name); err != nil {
		return nil, err
	}
	return durable.OpenPlain(f.FS, name)
}

// Create makes a file. What has the name is removed, never opened: see vfs.FS.
func (f *fenced) Create(name string) (vfs.File, error) {
	if err := f.above(name); err != nil {
		return nil, err
	}
	return f.FS.Create(name)
}

// OpenReadWrite opens a file, or makes it.
func (f *fenced) OpenReadWrite(name string) (vfs.File, error) {
	if err := f.above(name); err != nil {
		return nil, err
	}
	file, err := durable.OpenOwn(f.FS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return f.FS.Create(name)
	}
	return file, err
}

func (f *fenced) Lock(name string) (io.Closer, error) {
	if err := f.above(name); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(f.FS, name)
	if err != nil {
		return nil, err
	}
	return closer(lock.Release), nil
}

type closer func() error

func (c closer) Close() error { return c() }

// OpenDir opens a folder to sync it.
func (f *fenced) OpenDir(name string) (vfs.File, error) {
	if err := f.dir(name); err != nil {
		return nil, err
	}
	return f.FS.OpenDir(name)
}

// List lists a folder. A library may take what it needs from a name alone, so a link among the
// names is refused, except in the outermost folder: what lies there beside its own is the user's.
func (f *fenced) List(dir string) ([]string, error) {
	if err := f.dir(dir); err != nil {
		return nil, err
	}
	names, err := f.FS.List(dir)
	if _, inside := f.inside(dir); err != nil || !inside {
		return names, err
	}
	for _, name := range names {
		if _, err := f.Stat(filepath.Join(dir, name)); errors.Is(err, durable.ErrForeign) {
			return nil, err
		}
	}
	return names, nil
}

// MkdirAll makes a folder.
func (f *fenced) MkdirAll(dir string, perm fs.FileMode) error {
	if err := f.dir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.FS.MkdirAll(dir, perm)
}

// Stat describes a file or folder.
func (f *fenced) Stat(name string) (fs.FileInfo, error) {
	if err := f.above(name); err != nil {
		return nil, err
	}
	if _, inside := f.inside(name); inside {
		if info, err := durable.Lstat(f.FS, name); err == nil && durable.IsLink(info) {
			return nil, durable.CheckRegular(name, info)
		}
	}
	return f.FS.Stat(name)
}

// Link gives a file a second name.
func (f *fenced) Link(oldname, newname string) error {
	if err := errors.Join(f.above(oldname), f.above(newname)); err != nil {
		return err
	}
	info, err := durable.Lstat(f.FS, oldname)
	if err == nil {
		err = durable.CheckRegular(oldname, info)
	}
	if err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// Rename renames a file. A link under the new name is replaced, and not followed.
func (f *fenced) Rename(oldname, newname string) error {
	if err := errors.Join(f.above(oldname), f.above(newname)); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

// Remove removes a name, not the target of a link.
func (f *fenced) Remove(name string) error {
	if err := f.above(name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// RemoveAll removes a name and what lies below it.
func (f *fenced) RemoveAll(name string) error {
	if err := f.above(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return f.FS.RemoveAll(name)
}
