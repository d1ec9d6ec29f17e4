//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

func usageOf() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // zero where it fails
	return u
}

func processorTime() time.Duration {
	u := usageOf()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func peakMemory() int64 {
	if most := int64(usageOf().Maxrss); runtime.GOOS == "darwin" {
		return most
	} else {
		return most << 10
	}
}
