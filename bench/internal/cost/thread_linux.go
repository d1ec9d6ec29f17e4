package cost

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread returns the processor time of the thread. The goroutine must be locked to it.
func Thread() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // zero where it fails
	return time.Duration(t.Nano())
}
