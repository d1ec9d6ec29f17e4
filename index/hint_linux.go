package index

import "golang.org/x/sys/unix"

func preallocate(fd int, offset, length int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, offset, length)
}

func prefetch(fd int, offset, length int64) error {
	return unix.Fadvise(fd, offset, length, unix.FADV_WILLNEED)
}

func startWriting(fd int, length int64) error {
	return unix.SyncFileRange(fd, 0, length, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
}
