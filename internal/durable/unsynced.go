package durable

import "github.com/cockroachdb/pebble/v2/vfs"

// Unsynced returns a file system that never waits for files and folders to be on disk: data survive
// the process but not a power failure.
func Unsynced(fsys vfs.FS) vfs.FS { return unsynced{fsys} }

// IsUnsynced tells whether a file is of such a file system.
func IsUnsynced(f vfs.File) bool {
	_, ok := f.(unsyncedFile)
	return ok
}

type unsynced struct{ vfs.FS }

func (u unsynced) Unwrap() vfs.FS { return u.FS }

func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.Create(name, category))
}

func (u unsynced) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return withoutSync(u.FS.OpenReadWrite(name, category, opts...))
}

func (u unsynced) OpenDir(name string) (vfs.File, error) { return withoutSync(u.FS.OpenDir(name)) }

func (u unsynced) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.ReuseForWrite(oldname, newname, category))
}

func withoutSync(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return false, nil }
