// Package testsize tells tests how much to do. Under the race detector everything takes ten
// times as long, and it sees the same races in a tenth of the trials.
package testsize

import "testing"

// Small reports whether a test is to do less: with -short, or under the race detector.
func Small() bool { return Race || testing.Short() }
