package index

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	pebblefs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// guarded is the file system that Pebble uses. When a write fails, Pebble ends the process,
// panics while it holds locks, or retries for ever. So Pebble never learns of the error:
// failed is called, and the goroutine blocks for ever. Reads continue to work.
type guarded struct {
	on     vfs.FS
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

func (g *guarded) file(f vfs.File, err error) (pebblefs.File, error) {
	g.must(err)
	if err != nil {
		return nil, err
	}
	return &guardedFile{plainFile{f}, g}, nil
}

func (g *guarded) Create(name string, _ pebblefs.DiskWriteCategory) (pebblefs.File, error) {
	return g.file(g.on.Create(name))
}

func (g *guarded) OpenReadWrite(name string, _ pebblefs.DiskWriteCategory, opts ...pebblefs.OpenOption) (pebblefs.File, error) {
	return opened(opts)(g.file(g.on.OpenReadWrite(name)))
}

// ReuseForWrite writes over an old file under a new name, or makes a new one if the old one is not this program's alone.
func (g *guarded) ReuseForWrite(oldname, newname string, _ pebblefs.DiskWriteCategory) (pebblefs.File, error) {
	if err := g.Rename(oldname, newname); err != nil {
		return nil, err
	}
	f, err := g.on.OpenReadWrite(newname)
	if errors.Is(err, durable.ErrForeign) {
		f, err = g.on.Create(newname)
	}
	return g.file(f, err)
}

func (g *guarded) Open(name string, opts ...pebblefs.OpenOption) (pebblefs.File, error) {
	f, err := g.on.Open(name)
	if err != nil {
		return nil, err
	}
	return opened(opts)(plainFile{f}, nil)
}

func (g *guarded) OpenDir(name string) (pebblefs.File, error) {
	f, err := g.on.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedFile{plainFile{f}, g}, nil
}

// opened applies Pebble's options to a file that was opened.
func opened(opts []pebblefs.OpenOption) func(pebblefs.File, error) (pebblefs.File, error) {
	return func(f pebblefs.File, err error) (pebblefs.File, error) {
		for _, opt := range opts {
			if err == nil {
				opt.Apply(f)
			}
		}
		return f, err
	}
}

func (g *guarded) Rename(oldname, newname string) error {
	err := g.on.Rename(oldname, newname)
	g.must(err)
	return err
}

func (g *guarded) Link(oldname, newname string) error {
	err := g.on.Link(oldname, newname)
	g.must(err)
	return err
}

func (g *guarded) Remove(name string) error    { return g.on.Remove(name) }
func (g *guarded) RemoveAll(name string) error { return g.on.RemoveAll(name) }

// MkdirAll makes a folder with the rights that the umask leaves, as all others: Pebble would leave out those of a group.
func (g *guarded) MkdirAll(dir string, _ fs.FileMode) error    { return g.on.MkdirAll(dir, 0o777) }
func (g *guarded) List(dir string) ([]string, error)           { return g.on.List(dir) }
func (g *guarded) Stat(name string) (pebblefs.FileInfo, error) { return described(g.on.Stat(name)) }
func (g *guarded) Lock(name string) (io.Closer, error)         { return g.on.Lock(name) }
func (g *guarded) PathBase(name string) string                 { return filepath.Base(name) }
func (g *guarded) PathDir(name string) string                  { return filepath.Dir(name) }
func (g *guarded) PathJoin(names ...string) string             { return filepath.Join(names...) }
func (g *guarded) Unwrap() pebblefs.FS                         { return nil }

// GetDiskUsage tells how full the disk is, by which Pebble decides how fast it removes files.
func (g *guarded) GetDiskUsage(name string) (pebblefs.DiskUsage, error) {
	if !durable.OnSystem(g.on) {
		return pebblefs.DiskUsage{}, pebblefs.ErrUnsupported
	}
	return pebblefs.Default.GetDiskUsage(name)
}

// guardedFile is a file that is written.
type guardedFile struct {
	plainFile
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

// plainFile is a file as Pebble wants it.
type plainFile struct{ vfs.File }

func (f plainFile) Stat() (pebblefs.FileInfo, error) { return described(f.File.Stat()) }

// Fd is that of a file of the operating system.
func (f plainFile) Fd() uintptr {
	if f, ok := f.File.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return pebblefs.InvalidFd
}

// These three are hints to the operating system: see hint.

func (f plainFile) Preallocate(offset, length int64) error {
	return hint(f.Fd(), func(fd int) error { return preallocate(fd, offset, length) })
}

func (f plainFile) Prefetch(offset, length int64) error {
	return hint(f.Fd(), func(fd int) error { return prefetch(fd, offset, length) })
}

// SyncTo begins to write what is not on disk yet, so that the sync at the end has little left to wait for. Pebble relies
// on none of it being safe.
func (f plainFile) SyncTo(length int64) (whole bool, err error) {
	return false, hint(f.Fd(), func(fd int) error { return startWriting(fd, length) })
}

// hint gives a hint about a file, unless it is not one of the operating system. One that is not understood does no harm.
func hint(fd uintptr, give func(fd int) error) error {
	if fd != pebblefs.InvalidFd {
		_ = give(int(fd))
	}
	return nil
}

// info describes a file as Pebble wants it, which asks for the device only where it has several.
type info struct{ fs.FileInfo }

func (info) DeviceID() (none pebblefs.DeviceID) { return none }

func described(i fs.FileInfo, err error) (pebblefs.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return info{i}, nil
}
