//go:build !race

package index

const raceDetector = false

// bothKeys are the places where keys are.
var bothKeys = []Keys{KeysInMemory, KeysOnDisk}
