//go:build race

package linkage

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true
