//go:build !linux

package largepages

// Ask does nothing here.
func Ask([]uint64) {}
