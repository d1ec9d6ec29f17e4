//go:build unix

package stdio

import (
	"os"

	"golang.org/x/sys/unix"
)

// bothWays tells whether a file is open for reading and writing.
func bothWays(file *os.File) bool {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
