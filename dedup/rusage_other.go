//go:build !unix

package dedup

// peakMemory is not known on this system.
func peakMemory() int64 { return 0 }
