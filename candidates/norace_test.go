//go:build !race

package candidates

const raceDetector = false
