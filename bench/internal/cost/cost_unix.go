//go:build unix

package cost

import (
	"os"
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
func PeakMemory() int64 { return bytesOf(int64(usageOf().Maxrss)) }

// bytesOf returns a peak of resident memory as the system tells it, in bytes.
func bytesOf(most int64) int64 {
	if runtime.GOOS == "darwin" {
		return most
	}
	return most << 10
}

// Of returns the processor time of a process that has ended, user and system, and the peak of its resident memory, in bytes.
func Of(p *os.ProcessState) (processor time.Duration, peak int64) {
	u, _ := p.SysUsage().(*syscall.Rusage)
	return p.UserTime() + p.SystemTime(), bytesOf(int64(u.Maxrss))
}
