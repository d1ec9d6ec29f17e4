//go:build !unix

package dedup

import "time"

// peakMemory returns 0: it is not known on this system.
func peakMemory() int64 { return 0 }

var started = time.Now()

// processorTime returns the time by the clock, which is no less than that of one thread on a processor: this system does
// not tell the latter.
func processorTime() time.Duration { return time.Since(started) }
