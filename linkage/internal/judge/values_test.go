package judge

import (
	"math"
	"testing"
)

func TestRarityIsThatOfTheTableWithMoreEqualValues(t *testing.T) {
	for _, of := range []struct {
		counts [2][]uint32
		want   float64
	}{
		{[2][]uint32{{1, 1, 1}, nil}, math.Inf(1)},
		{[2][]uint32{{2, 2}, nil}, math.Log(3)}, // 2 of 6 pairs
		{[2][]uint32{{1, 1, 0}, {0, 2, 2}}, math.Log(3)},
		{[2][]uint32{{1}, nil}, math.Inf(1)},
	} {
		if got := rarity(of.counts); math.Abs(got-of.want) > 1e-12 {
			t.Errorf("counts %v: %v nats, want %v", of.counts, got, of.want)
		}
	}
}
