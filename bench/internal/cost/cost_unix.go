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

// Processor returns the processor time that the process has taken, of the system's too.
func Processor() time.Duration {
	u := usageOf()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the most resident memory that it has had, in bytes.
func PeakMemory() int64 {
	if most := int64(usageOf().Maxrss); runtime.GOOS == "darwin" {
		return most
	} else {
		return most << 10
	}
}
