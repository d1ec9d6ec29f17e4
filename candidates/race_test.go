//go:build race

package candidates

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true
