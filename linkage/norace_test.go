//go:build !race

package linkage

const raceDetector = false
