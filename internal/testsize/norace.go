//go:build !race

package testsize

// Race reports whether the race detector is on.
const Race = false
