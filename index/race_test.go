//go:build race

package index

import "flag"

func init() {
	if err := flag.Set("rapid.checks", "10"); err != nil { // of 100: the race detector watches, other runs draw more
		panic(err)
	}
}

// raceDetector slows everything down tenfold; statistical tests do less then.
const raceDetector = true

// bothKeys are the places where keys are. Those on disk take minutes with the race detector,
// which meets them in TestKeysOnDiskAnswerAsKeysInMemoryDo.
var bothKeys = []Keys{KeysInMemory}
