//go:build unix && !linux

package dedup

import (
	"runtime"
	"time"

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

// processorTime returns the processor time of this process, to be compared with a later one.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // does not fail for the calling process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
