//go:build unix

package cost

import (
	"runtime"
	"syscall"
	"time"
)

func usageOf() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // zero where it fails
	return u
}

// Processor returns the processor time of the process, user and system.
func Processor() time.Duration {
	u := usageOf()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the peak of the process's resident memory, in bytes.
func PeakMemory() int64 {
	if most := int64(usageOf().Maxrss); runtime.GOOS == "darwin" {
		return most
	} else {
		return most << 10
	}
}
