//go:build !unix

package dedup

// peakMemory returns 0: it is not known on this system.
func peakMemory() int64 { return 0 }
