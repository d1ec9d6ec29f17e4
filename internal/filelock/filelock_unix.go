//go:build !windows

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// taken reports whether locking failed because another process holds the lock.
// A lock file that may not be opened is another matter and comes as an
// *os.PathError.
func taken(err error) bool {
	var path *os.PathError
	return !errors.As(err, &path) && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES))
}

// sameFile reports whether two looks at a name met the same file. File systems in
// memory give files no numbers and remove no lock files behind a process's back.
func sameFile(a, b os.FileInfo) bool {
	sa, okA := a.Sys().(*syscall.Stat_t)
	sb, okB := b.Sys().(*syscall.Stat_t)
	return !okA || !okB || sa.Dev == sb.Dev && sa.Ino == sb.Ino
}
