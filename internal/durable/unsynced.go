package durable

import "github.com/alike-dev/alike/vfs"

// Unsynced returns a file system that never waits for files and folders to be on disk: data survive
// the process but not a power failure.
func Unsynced(fsys vfs.FS) vfs.FS { return unsynced{fsys} }

type unsynced struct{ vfs.FS }

func (u unsynced) Unwrap() vfs.FS { return u.FS }

func (u unsynced) Create(name string) (vfs.File, error) {
	return withoutSync(u.FS.Create(name))
}

func (u unsynced) OpenReadWrite(name string) (vfs.File, error) {
	return withoutSync(u.FS.OpenReadWrite(name))
}

func (u unsynced) OpenDir(name string) (vfs.File, error) { return withoutSync(u.FS.OpenDir(name)) }

func withoutSync(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error     { return nil }
func (unsyncedFile) SyncData() error { return nil }
