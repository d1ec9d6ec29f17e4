//go:build race

package index

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true
