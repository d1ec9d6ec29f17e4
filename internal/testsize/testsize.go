// Package testsize tells tests how much to do. Under the race detector everything takes ten times
// as long, and a tenth of the trials show it the same races.
package testsize

import "testing"

// Small reports whether a test should do less: with -short, or under the race detector.
func Small() bool { return Race || testing.Short() }
