package dedup

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks the kernel to begin writing a range to disk, so that the
// fsync at the end finds little left to wait for: on a gigabyte it took 0.3 s of
// otherwise idle time without. It is a hint, an error changes nothing.
func startWriteback(f *os.File, offset, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
}
