package write

import (
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/alike-dev/alike/internal/durable"
)

// startWriteback asks the kernel to begin writing a range to disk, so that the
// fsync at the end finds little left to wait for: on a gigabyte it took 0.3 s of
// otherwise idle time without. It is a hint, an error changes nothing. Where no fsync
// comes, the kernel chooses the time.
func startWriteback(f vfs.File, offset, length int64) {
	if durable.IsUnsynced(f) {
		return
	}
	if fd := f.Fd(); fd != vfs.InvalidFd {
		_ = unix.SyncFileRange(int(fd), offset, length, unix.SYNC_FILE_RANGE_WRITE)
	}
}
