package index

import (
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guarded is the file system that Pebble uses. When a write fails, Pebble ends the process,
// panics while it holds locks, or retries for ever. So Pebble never learns of the error:
// failed is called, and the goroutine blocks for ever. Reads continue to work.
type guarded struct {
	vfs.FS
	failed func(error)
}

// must returns only if a write has succeeded.
func (g *guarded) must(err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return // Pebble expects these errors
	}
	g.failed(err)
	select {} // see engine.do
}

func (g *guarded) file(f vfs.File, err error) (vfs.File, error) {
	g.must(err)
	if err != nil {
		return nil, err
	}
	return &guardedFile{f, g}, nil
}

func (g *guarded) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return g.file(g.FS.Create(name, category))
}

func (g *guarded) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return g.file(g.FS.OpenReadWrite(name, category, opts...))
}

func (g *guarded) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return g.file(g.FS.ReuseForWrite(oldname, newname, category))
}

func (g *guarded) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedFile{f, g}, nil
}

func (g *guarded) Rename(oldname, newname string) error {
	err := g.FS.Rename(oldname, newname)
	g.must(err)
	return err
}

func (g *guarded) Link(oldname, newname string) error {
	err := g.FS.Link(oldname, newname)
	g.must(err)
	return err
}

// Unwrap returns the underlying file system.
func (g *guarded) Unwrap() vfs.FS { return g.FS }

type guardedFile struct {
	vfs.File
	g *guarded
}

func (f *guardedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.g.must(err)
	return n, err
}

func (f *guardedFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.g.must(err)
	return n, err
}

func (f *guardedFile) Sync() error {
	err := f.File.Sync()
	f.g.must(err)
	return err
}

func (f *guardedFile) SyncData() error {
	err := f.File.SyncData()
	f.g.must(err)
	return err
}

func (f *guardedFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	f.g.must(err)
	return fullSync, err
}
