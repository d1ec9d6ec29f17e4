//go:build !race

package lsh_test

const raceDetector = false
