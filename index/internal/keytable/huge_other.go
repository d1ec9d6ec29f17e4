//go:build !linux

package keytable

// askForLargePages does nothing here.
func askForLargePages([]uint64) {}
