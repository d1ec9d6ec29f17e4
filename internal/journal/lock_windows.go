package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockTaken reports whether locking failed because another process holds the lock.
func lockTaken(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// sameFile is always true: a lock file cannot be removed while it is open.
func sameFile(_, _ os.FileInfo) bool { return true }
