//go:build !unix

package cost

import (
	"os"
	"time"
)

// Processor and PeakMemory are 0, because this system does not tell them.
func Processor() time.Duration { return 0 }

func PeakMemory() int64 { return 0 }

// Of returns the processor time of a process that has ended, user and system; this system does not tell its peak memory.
func Of(p *os.ProcessState) (processor time.Duration, peak int64) {
	return p.UserTime() + p.SystemTime(), 0
}
