//go:build race

package stream_test

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true
