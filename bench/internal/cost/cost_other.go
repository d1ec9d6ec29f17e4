//go:build !unix

package cost

import "time"

// Processor and PeakMemory are 0, because this system does not tell them.
func Processor() time.Duration { return 0 }

func PeakMemory() int64 { return 0 }
