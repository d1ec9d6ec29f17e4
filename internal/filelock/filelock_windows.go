package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// taken reports whether locking failed because another process holds the lock.
func taken(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// sameFile is always true: a lock file cannot be removed while it is open.
func sameFile(_, _ os.FileInfo) bool { return true }
