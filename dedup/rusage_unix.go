//go:build unix && !linux

package dedup

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakMemory returns the largest resident size of the process so far, in bytes.
func peakMemory() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there, KiB elsewhere
	}
	return u.Maxrss * 1024
}
