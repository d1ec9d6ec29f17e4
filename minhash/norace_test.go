//go:build !race

package minhash

const raceDetector = false
