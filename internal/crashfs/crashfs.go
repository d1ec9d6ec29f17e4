// Package crashfs is a file system in memory that tells what a failure of the power would leave of it,
// also while other goroutines use it: for tests.
package crashfs

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a vfs.MemFS for crashes. Its own CrashClone must not be called while a link is being made: Link takes a
// lock for reading twice, and waits for ever if a clone asks for that lock in between (Pebble 2.1.7).
type FS struct {
	*vfs.MemFS
	linking sync.Mutex
}

// New returns an empty file system.
func New() *FS { return &FS{MemFS: vfs.NewCrashableMem()} }

// Link makes a link, between two clones.
func (f *FS) Link(oldname, newname string) error {
	f.linking.Lock()
	defer f.linking.Unlock()
	return f.MemFS.Link(oldname, newname)
}

// CrashClone returns what is left if the power fails now.
func (f *FS) CrashClone(cfg vfs.CrashCloneCfg) *FS {
	f.linking.Lock()
	defer f.linking.Unlock()
	return &FS{MemFS: f.MemFS.CrashClone(cfg)}
}
