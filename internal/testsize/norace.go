//go:build !race

package testsize

// Race reports whether the race detector watches.
const Race = false
