//go:build !race

package corpus

import "testing"

func notUnderRaceDetector(*testing.T) {}
