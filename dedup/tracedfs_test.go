package dedup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/vfs"
)

// operation is one operation on a file system.
type operation struct {
	n     int    // 1, 2, … since the beginning
	Kind  string // "write", "sync", …
	Path  string
	Write bool // it changes what a crash may lose
}

func (o operation) String() string { return fmt.Sprintf("operation %d, %s %s", o.n, o.Kind, o.Path) }

// tracedFS is a file system that asks before every operation whether it may be
// done, and knows which files are open. It accepts the paths of any system.
type tracedFS struct {
	vfs.FS
	// may returns the error that an operation fails with. A write that fails may
	// have written half of its bytes. It is called for one operation after the
	// other.
	may func(operation) error

	mu    sync.Mutex
	n     int
	Files map[io.Closer]string
}

func newTracedFS(on vfs.FS, may func(operation) error) *tracedFS {
	return &tracedFS{FS: on, may: may, Files: map[io.Closer]string{}}
}

func (t *tracedFS) do(kind, path string, write bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if t.may == nil {
		return nil
	}
	if err := t.may(operation{t.n, kind, path, write}); err != nil {
		return &fs.PathError{Op: kind, Path: path, Err: err}
	}
	return nil
}

// Left returns the paths of the files that are still open.
func (t *tracedFS) Left() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Values(t.Files))
}

// CloseAll closes the files that a failed run has left open, so that its locks are free as
// after the end of a process.
func (t *tracedFS) CloseAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.Files {
		switch f := f.(type) {
		case *tracedFile:
			_ = f.File.Close()
		case *tracedLock:
			_ = f.Closer.Close()
		}
	}
	clear(t.Files)
}

func (t *tracedFS) opened(kind, name string, write bool, open func(name string) (vfs.File, error)) (vfs.File, error) {
	name = filepath.ToSlash(name)
	if err := t.do(kind, name, write); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	file := &tracedFile{File: f, fs: t, path: name}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Files[file] = name
	return file, nil
}

func (t *tracedFS) Create(name string) (vfs.File, error) {
	return t.opened("create", name, true, func(name string) (vfs.File, error) {
		if dir := path.Dir(name); strings.HasPrefix(dir, filepath.ToSlash(os.TempDir())) {
			if err := t.FS.MkdirAll(dir, 0o755); err != nil { // made outside this file system
				return nil, err
			}
		}
		return t.FS.Create(name)
	})
}

func (t *tracedFS) Open(name string) (vfs.File, error) {
	return t.opened("open", name, false, t.FS.Open)
}

func (t *tracedFS) OpenReadWrite(name string) (vfs.File, error) {
	return t.opened("open", name, true, t.FS.OpenReadWrite)
}

func (t *tracedFS) OpenDir(name string) (vfs.File, error) {
	return t.opened("open folder", name, false, t.FS.OpenDir)
}

func (t *tracedFS) Link(from, to string) error { return errors.ErrUnsupported }

func (t *tracedFS) named(kind, name string, act func(name string) error) error {
	name = filepath.ToSlash(name)
	if err := t.do(kind, name, true); err != nil {
		return err
	}
	return act(name)
}

func (t *tracedFS) Remove(name string) error    { return t.named("remove", name, t.FS.Remove) }
func (t *tracedFS) RemoveAll(name string) error { return t.named("remove all", name, t.FS.RemoveAll) }

func (t *tracedFS) Rename(from, to string) error {
	return t.named("rename", from, func(from string) error { return t.FS.Rename(from, filepath.ToSlash(to)) })
}

func (t *tracedFS) MkdirAll(name string, perm os.FileMode) error {
	return t.named("make", name, func(name string) error { return t.FS.MkdirAll(name, perm) })
}

func (t *tracedFS) List(name string) ([]string, error) {
	name = filepath.ToSlash(name)
	if err := t.do("list", name, false); err != nil {
		return nil, err
	}
	return t.FS.List(name)
}

func (t *tracedFS) Stat(name string) (fs.FileInfo, error) {
	name = filepath.ToSlash(name)
	if err := t.do("stat", name, false); err != nil {
		return nil, err
	}
	return t.FS.Stat(name)
}

// tracedLock is a lock that is held.
type tracedLock struct {
	io.Closer
	fs *tracedFS
}

func (t *tracedFS) Lock(name string) (io.Closer, error) {
	name = filepath.ToSlash(name)
	if err := t.do("lock", name, true); err != nil {
		return nil, err
	}
	held, err := t.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	l := &tracedLock{held, t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Files[l] = name
	return l, nil
}

// Close releases the lock, whatever may returns: the kernel releases it too.
func (l *tracedLock) Close() error {
	l.fs.mu.Lock()
	delete(l.fs.Files, l)
	l.fs.mu.Unlock()
	return l.Closer.Close()
}

// tracedFile is an open file.
type tracedFile struct {
	vfs.File
	fs    *tracedFS
	path  string
	wrote atomic.Bool // by any of the goroutines that write
}

// Close closes the file although it may fail.
func (f *tracedFile) Close() error {
	kind := "close"
	wrote := f.wrote.Load()
	if wrote {
		kind = "close written"
	}
	failed := f.fs.do(kind, f.path, wrote)
	f.fs.mu.Lock()
	delete(f.fs.Files, f)
	f.fs.mu.Unlock()
	return errors.Join(failed, f.File.Close())
}

func (f *tracedFile) Read(p []byte) (int, error) {
	if err := f.fs.do("read", f.path, false); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *tracedFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.do("read", f.path, false); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

func (f *tracedFile) Write(p []byte) (int, error) {
	f.wrote.Store(true)
	if err := f.fs.do("write", f.path, true); err != nil {
		n, _ := f.File.Write(p[:f.half(err, p)])
		return n, err
	}
	return f.File.Write(p)
}

func (f *tracedFile) WriteAt(p []byte, at int64) (int, error) {
	f.wrote.Store(true)
	if err := f.fs.do("write", f.path, true); err != nil {
		n, _ := f.File.WriteAt(p[:f.half(err, p)], at)
		return n, err
	}
	return f.File.WriteAt(p, at)
}

// half returns how many bytes of p are written although writing fails.
func (f *tracedFile) half(err error, p []byte) int {
	if errors.Is(err, errDead) {
		return 0
	}
	return len(p) / 2
}

func (f *tracedFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.do("stat", f.path, false); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *tracedFile) Sync() error {
	if err := f.fs.do("sync", f.path, true); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *tracedFile) SyncData() error {
	if err := f.fs.do("sync", f.path, true); err != nil {
		return err
	}
	return f.File.SyncData()
}

// errDead is what every operation fails with after a process was killed or the
// power has failed: the run must end, but nothing that it does is done.
var errDead = errors.New("killed")

// memTree returns the contents of all files below a folder of a file system, and
// the folders without any.
func memTree(t testing.TB, on vfs.FS, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	var walk func(dir, below string)
	walk = func(dir, below string) {
		names, err := on.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 && below != "" {
			files[below+"/"] = ""
		}
		for _, name := range names {
			at := filepath.Join(dir, name)
			st, err := on.Stat(at)
			if err != nil {
				t.Fatal(err)
			}
			if st.IsDir() {
				walk(at, path.Join(below, name))
			} else {
				files[path.Join(below, name)] = readVFS(t, on, at)
			}
		}
	}
	if _, err := on.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return files
	}
	walk(dir, "")
	return files
}

func readVFS(t testing.TB, on vfs.FS, name string) string {
	t.Helper()
	f, err := on.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
