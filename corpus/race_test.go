//go:build race

package corpus

import "testing"

func notUnderRaceDetector(t *testing.T) {
	t.Skip("decompressing so much takes long under the race detector")
}
