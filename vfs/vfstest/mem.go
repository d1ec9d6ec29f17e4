// Package vfstest has file systems for tests: one in memory that tells what a failure of the power leaves of it (Mem),
// and one whose operations fail when a test says so (Inject).
//
// The one in memory is Pebble's, whose own crash tests rest on it.
package vfstest

import (
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	pebble "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/vfs"
)

// CrashCloneCfg says how much of what was not synced a crash leaves.
type CrashCloneCfg = pebble.CrashCloneCfg

// Mem is a file system in memory. It has no symbolic links.
type Mem struct {
	on *pebble.MemFS
	// Pebble's CrashClone must not be called while a link is being made: Link takes a lock for reading twice, and waits
	// for ever if a clone asks for that lock in between (Pebble 2.1.7).
	linking sync.Mutex
}

// NewMem returns an empty file system that cannot crash.
func NewMem() *Mem { return &Mem{on: pebble.NewMem()} }

// NewCrashable returns an empty file system for CrashClone.
func NewCrashable() *Mem { return &Mem{on: pebble.NewCrashableMem()} }

// CrashClone returns what is left if the power fails now.
func (m *Mem) CrashClone(cfg CrashCloneCfg) *Mem {
	m.linking.Lock()
	defer m.linking.Unlock()
	return &Mem{on: m.on.CrashClone(cfg)}
}

// UseWindowsSemantics makes files that are open ones that cannot be removed.
func (m *Mem) UseWindowsSemantics(on bool) { m.on.UseWindowsSemantics(on) }

// String returns a listing of all files.
func (m *Mem) String() string { return m.on.String() }

// at is a name as Pebble's file system has it on every system.
func at(name string) string { return filepath.ToSlash(name) }

func (m *Mem) Create(name string) (vfs.File, error) {
	return opened(m.on.Create(at(name), pebble.WriteCategoryUnspecified))
}

func (m *Mem) Open(name string) (vfs.File, error) { return opened(m.on.Open(at(name))) }

func (m *Mem) OpenReadWrite(name string) (vfs.File, error) {
	return opened(m.on.OpenReadWrite(at(name), pebble.WriteCategoryUnspecified))
}

func (m *Mem) OpenDir(name string) (vfs.File, error) { return opened(m.on.OpenDir(at(name))) }

func (m *Mem) Link(oldname, newname string) error {
	m.linking.Lock()
	defer m.linking.Unlock()
	return m.on.Link(at(oldname), at(newname))
}

func (m *Mem) Remove(name string) error             { return m.on.Remove(at(name)) }
func (m *Mem) RemoveAll(name string) error          { return m.on.RemoveAll(at(name)) }
func (m *Mem) Rename(oldname, newname string) error { return m.on.Rename(at(oldname), at(newname)) }

func (m *Mem) MkdirAll(dir string, perm fs.FileMode) error { return m.on.MkdirAll(at(dir), perm) }
func (m *Mem) Lock(name string) (io.Closer, error)         { return m.on.Lock(at(name)) }
func (m *Mem) List(dir string) ([]string, error)           { return m.on.List(at(dir)) }
func (m *Mem) Unwrap() vfs.FS                              { return nil }

func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	info, err := m.on.Stat(at(name))
	if err != nil {
		return nil, err
	}
	return info, nil
}

type file struct{ pebble.File }

func opened(f pebble.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (f file) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	return info, nil
}
