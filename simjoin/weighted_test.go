package simjoin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveWeighted is the definition of the weighted intersection.
func naiveWeighted(a, b Weighted) (n uint64) {
	for i, x := range a.Features {
		if k := slices.Index(b.Features, x); k >= 0 {
			n += uint64(min(a.Weights[i], b.Weights[k]))
		}
	}
	return n
}

// anyWeighted draws a set with small weights, large ones, or those of another set where
// it has the feature.
func anyWeighted(t *rapid.T, name string, like Weighted) Weighted {
	features := anySet(t, 200, name)
	if len(like.Features) > 0 && rapid.Bool().Draw(t, name+" is an edited copy") {
		at := rapid.IntRange(0, len(like.Features)).Draw(t, name+" lacks")
		features = slices.Concat(features[:min(len(features), 10)], like.Features[:at], like.Features[min(at+1, len(like.Features)):])
		slices.Sort(features)
		features = slices.Compact(features)
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" weights"), 0))
	largest := rapid.SampledFrom([]uint32{1, 3, 1000, math.MaxUint32}).Draw(t, name+" largest")
	weights := make([]uint32, len(features))
	for i, x := range features {
		weights[i] = 1 + uint32(r.Uint64N(uint64(largest)))
		if k := slices.Index(like.Features, x); k >= 0 && r.IntN(4) > 0 {
			weights[i] = like.Weights[k]
		}
	}
	return NewWeighted(features, weights)
}

func TestWeightedIntersectionEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyWeighted(t, "a", Weighted{})
		b := anyWeighted(t, "b", a)
		want := naiveWeighted(a, b)
		if got := IntersectionWeighted(a, b); got != want {
			t.Errorf("IntersectionWeighted(a, b) = %d, want %d", got, want)
		}
		if got := IntersectionWeighted(b, a); got != want {
			t.Errorf("IntersectionWeighted(b, a) = %d, want %d", got, want)
		}
	})
}

func TestSetsWithoutWeightsHaveWeightsOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anySet(t, 200, "a"), anySet(t, 200, "b")
		ones := func(set []uint64) Weighted {
			return NewWeighted(set, slices.Repeat([]uint32{1}, len(set)))
		}
		if got, want := IntersectionWeighted(ones(a), ones(b)), Intersection(a, b); int(got) != want {
			t.Errorf("%d, without weights %d", got, want)
		}
	})
}

func TestWeightedKernelsDoNotAllocate(t *testing.T) {
	a, b := weightedPair(rand.New(rand.NewPCG(1, 2)), 0.5)
	if n := testing.AllocsPerRun(10, func() {
		IntersectionWeighted(a, b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// weightedPair returns sets of 1000 features with weights up to 100 that share a part.
func weightedPair(r *rand.Rand, shared float64) (a, b Weighted) {
	x, y := randomSets(r, 1000, 1000, shared)
	weights := func() []uint32 {
		w := make([]uint32, 1000)
		for i := range w {
			w[i] = 1 + r.Uint32N(100)
		}
		return w
	}
	return NewWeighted(x, weights()), NewWeighted(y, weights())
}

func BenchmarkIntersectionWeighted(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var pairs [64][2]Weighted
	for i := range pairs {
		pairs[i][0], pairs[i][1] = weightedPair(r, 0.9)
	}
	i := 0
	for b.Loop() {
		IntersectionWeighted(pairs[i%len(pairs)][0], pairs[i%len(pairs)][1])
		i++
	}
}
