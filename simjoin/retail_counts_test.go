//go:build !race

package simjoin

import "testing"

// The join starts no goroutines, so the race detector has nothing to find here and
// would take most of a minute over it.
func TestSelfJoinFindsAsManyPairsOfRealBasketsAsAreKnown(t *testing.T) {
	sets := retail(t)
	for _, c := range []struct {
		threshold float64
		want      int
	}{{0.6, 1276096}, {0.75, 608384}, {0.8, 568171}, {0.9, 563005}, {0.95, 563005}, {1, 563005}} {
		if got := len(selfJoin(sets, threshold(t, c.threshold))); got != c.want {
			t.Errorf("%d pairs at threshold %v, want %d", got, c.threshold, c.want)
		}
	}
}
