package durable

import (
	"golang.org/x/sys/unix"

	"github.com/alike-dev/alike/vfs"
)

// StartWriteback asks the kernel to begin writing a range to disk, so that the fsync at the end has
// little left to wait for: without it a gigabyte took 0.3 s of otherwise idle time. It is a hint,
// so an error does not matter. If no fsync follows (Unsynced hides Fd), the kernel chooses the time.
func StartWriteback(f vfs.File, offset, length int64) {
	if f, ok := f.(interface{ Fd() uintptr }); ok {
		_ = unix.SyncFileRange(int(f.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
	}
}
