//go:build race

package dedup

// raceEnabled tells tests to do less, since everything takes ten times as long.
const raceEnabled = true
