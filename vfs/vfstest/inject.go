package vfstest

import (
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/alike-dev/alike/vfs"
)

// ErrInjected is an error for injectors to return.
var ErrInjected = errors.New("injected error")

// Op is an operation that is about to be done.
type Op struct {
	Kind OpKind
	Path string // where two names are given, the old one
}

// OpKind is a kind of operation. Closing a file is none: it does not fail.
type OpKind int

const (
	OpCreate OpKind = iota
	OpLink
	OpRemove
	OpRemoveAll
	OpRename
	OpMkdirAll
	OpLock
	OpFileWrite
	OpFileWriteAt
	OpFileSync
	OpFileSyncData
	OpOpen // this and all that follow only read
	OpOpenDir
	OpList
	OpStat
	OpFileRead
	OpFileReadAt
	OpFileStat
)

// Writes tells whether operations of this kind change anything.
func (k OpKind) Writes() bool { return k < OpOpen }

// Injector returns the error of an operation, which is then not done; or nil.
type Injector func(Op) error

// Inject returns a file system that asks before every operation.
func Inject(on vfs.FS, ask Injector) *Injected { return &Injected{FS: on, ask: ask} }

// InjectFile is Inject for a file.
func InjectFile(f vfs.File, name string, ask Injector) vfs.File {
	return &failingFile{f, name, ask, new(atomic.Int64)}
}

// Injected is a file system of Inject.
type Injected struct {
	vfs.FS
	ask  Injector
	open atomic.Int64
}

// Left returns how many files were opened and not closed.
func (f *Injected) Left() int { return int(f.open.Load()) }

func (f *Injected) Unwrap() vfs.FS { return f.FS }

// do asks, and then does what act does with name.
func do[T any](ask Injector, kind OpKind, name string, act func(name string) (T, error)) (result T, err error) {
	if err := ask(Op{kind, name}); err != nil {
		return result, err
	}
	return act(name)
}

func (f *Injected) opened(kind OpKind, name string, open func(name string) (vfs.File, error)) (vfs.File, error) {
	opened, err := do(f.ask, kind, name, open)
	if err != nil {
		return nil, err
	}
	f.open.Add(1)
	return &failingFile{opened, name, f.ask, &f.open}, nil
}

func (f *Injected) Create(name string) (vfs.File, error) {
	return f.opened(OpCreate, name, f.FS.Create)
}
func (f *Injected) Open(name string) (vfs.File, error) { return f.opened(OpOpen, name, f.FS.Open) }

func (f *Injected) OpenReadWrite(name string) (vfs.File, error) {
	return f.opened(OpOpen, name, f.FS.OpenReadWrite)
}

func (f *Injected) OpenDir(name string) (vfs.File, error) {
	return f.opened(OpOpenDir, name, f.FS.OpenDir)
}

func (f *Injected) Link(oldname, newname string) error {
	if err := f.ask(Op{OpLink, oldname}); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// Remove asks only about files that exist.
func (f *Injected) Remove(name string) error {
	if _, err := f.FS.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := f.ask(Op{OpRemove, name}); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *Injected) RemoveAll(name string) error {
	if err := f.ask(Op{OpRemoveAll, name}); err != nil {
		return err
	}
	return f.FS.RemoveAll(name)
}

func (f *Injected) Rename(oldname, newname string) error {
	if err := f.ask(Op{OpRename, oldname}); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f *Injected) MkdirAll(dir string, perm fs.FileMode) error {
	if err := f.ask(Op{OpMkdirAll, dir}); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir, perm)
}

func (f *Injected) Lock(name string) (io.Closer, error) { return do(f.ask, OpLock, name, f.FS.Lock) }
func (f *Injected) List(dir string) ([]string, error)   { return do(f.ask, OpList, dir, f.FS.List) }
func (f *Injected) Stat(name string) (fs.FileInfo, error) {
	return do(f.ask, OpStat, name, f.FS.Stat)
}

type failingFile struct {
	vfs.File
	name string
	ask  Injector
	open *atomic.Int64
}

func (f *failingFile) Close() error {
	f.open.Add(-1)
	return f.File.Close()
}

func (f *failingFile) Read(p []byte) (int, error) {
	if err := f.ask(Op{OpFileRead, f.name}); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *failingFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ask(Op{OpFileReadAt, f.name}); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.ask(Op{OpFileWrite, f.name}); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.ask(Op{OpFileWriteAt, f.name}); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *failingFile) Stat() (fs.FileInfo, error) {
	if err := f.ask(Op{OpFileStat, f.name}); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *failingFile) Sync() error {
	if err := f.ask(Op{OpFileSync, f.name}); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *failingFile) SyncData() error {
	if err := f.ask(Op{OpFileSyncData, f.name}); err != nil {
		return err
	}
	return f.File.SyncData()
}
