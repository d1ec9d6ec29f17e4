package dedup

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// peakMemory returns the largest resident size of the process so far, in bytes. getrusage is not
// used: its value is at least the size of the process that has started this one.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	size, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kib, err := strconv.ParseInt(string(size), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// processorTime returns the processor time of this thread, to be compared with that of the same thread: that of other
// goroutines is not part of it.
func processorTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // does not fail for the calling thread
	return time.Duration(t.Nano())
}
