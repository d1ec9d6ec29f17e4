//go:build !windows

package filelock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

// taken reports whether locking failed because another process holds the lock. A lock file that may
// not be opened is a different case: an *os.PathError.
func taken(err error) bool {
	var path *os.PathError
	return !errors.As(err, &path) && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES))
}

// mine are the locks that this process holds. The kernel would grant a process the same lock twice,
// and release it when either is closed.
var mine struct {
	sync.Mutex
	locks []*processLock
}

// processLock is a lock on a file of the operating system.
type processLock struct {
	file *os.File
	info fs.FileInfo
}

// lock locks a file and describes it. vfs.FS.Lock would follow a link and truncate its target.
func lock(fsys vfs.FS, path string) (io.Closer, fs.FileInfo, error) {
	if !durable.OnSystem(fsys) {
		held, err := lockOn(fsys, path)
		return held, nil, err
	}
	mine.Lock()
	defer mine.Unlock()
	if info, err := os.Lstat(path); err == nil && isMine(info) {
		return nil, nil, ErrTaken
	}
	// O_NONBLOCK: opening a FIFO would wait for its other end.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o666)
	if err != nil {
		if info, look := os.Lstat(path); look == nil && durable.CheckEmpty(path, info) != nil {
			err = durable.CheckEmpty(path, info) // says more
		}
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = durable.CheckEmpty(path, info)
	}
	if err == nil {
		whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
		err = unix.FcntlFlock(file.Fd(), unix.F_SETLK, &whole)
	}
	if err != nil {
		if taken(err) {
			err = ErrTaken
		}
		return nil, nil, errors.Join(err, file.Close())
	}
	l := &processLock{file, info}
	mine.locks = append(mine.locks, l)
	return l, info, nil
}

func isMine(info fs.FileInfo) bool {
	for _, l := range mine.locks {
		if durable.SameFile(l.info, info) {
			return true
		}
	}
	return false
}

func (l *processLock) Close() error {
	mine.Lock()
	defer mine.Unlock()
	for i, other := range mine.locks {
		if other == l {
			mine.locks = append(mine.locks[:i], mine.locks[i+1:]...)
			break
		}
	}
	return l.file.Close()
}
