package write

import (
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/alike-dev/alike/internal/durable"
)

// startWriteback asks the kernel to begin writing a range to disk, so that the fsync at the end has
// little left to wait for: without it a gigabyte took 0.3 s of otherwise idle time. It is a hint,
// so an error does not matter. If no fsync follows, the kernel chooses the time.
func startWriteback(f vfs.File, offset, length int64) {
	if durable.IsUnsynced(f) {
		return
	}
	if fd := f.Fd(); fd != vfs.InvalidFd {
		_ = unix.SyncFileRange(int(fd), offset, length, unix.SYNC_FILE_RANGE_WRITE)
	}
}
