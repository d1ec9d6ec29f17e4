package advise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
)

// TestChanceIsOfTheOrderOfWhatIs: far out in the tail of sums of many small agreements, and never far below.
func TestChanceIsOfTheOrderOfWhatIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	const documents, features = 700, 60
	sets := make([][]uint64, documents)
	for i := range sets {
		for range features { // as words do, some features stand in many sets
			sets[i] = append(sets[i], uint64(math.Exp(rng.Float64()*6)))
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	var pairs []pair
	for a := range uint32(strangers) {
		for b := range a {
			pairs = append(pairs, pair{a: b, b: a})
		}
	}
	common, err := commons(t.Context(), sets, pairs, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := newChance(similarities(measure.Jaccard, sets, pairs, common), common, documents)
	var is [steps + 1]float64
	for a := range sets {
		for b := range a {
			is[stepOf(jaccard(sets[a], sets[b]))]++
		}
	}
	last := math.Inf(1)
	reached := 0.0
	for at := steps; at > 0; at-- {
		is[at-1] += is[at]
	}
	for at := range steps {
		threshold := float64(at) / steps
		expected := c.above(threshold)
		if expected > last {
			t.Errorf("from %.2f on more pairs than from less: %v, %v", threshold, expected, last)
		}
		last = expected
		if threshold <= c.from || is[at] < 5 {
			continue
		}
		reached = threshold
		if expected < is[at]/2 || expected > 20*is[at] {
			t.Errorf("%v pairs from %.2f on, expected %v", is[at], threshold, expected)
		}
	}
	if reached < c.from+0.05 {
		t.Errorf("only looked up to %v, and the tail begins at %v", reached, c.from)
	}
}

func jaccard(a, b []uint64) float64 {
	common := 0
	for _, f := range a {
		if _, is := slices.BinarySearch(b, f); is {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
