package hotpath

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the time that this thread has had a processor: on a machine with
// other work it says more than a clock on the wall.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
