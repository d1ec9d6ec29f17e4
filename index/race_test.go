//go:build race

package index

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true

// bothKeys are the places where keys are. Those on disk take minutes with the race detector,
// which meets them in TestKeysOnDiskAnswerAsKeysInMemoryDo.
var bothKeys = []Keys{KeysInMemory}
