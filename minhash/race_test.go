//go:build race

package minhash

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true
