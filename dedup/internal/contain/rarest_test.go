package contain

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// likely draws a set of features, small numbers more often.
func likely(random *rand.Rand, features int) (set []uint64) {
	for f := range features {
		if random.IntN(features) < random.IntN(features)+1 {
			set = append(set, uint64(f))
		}
	}
	return set
}

func TestExactCandidatesMissNoPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n := rapid.IntRange(1, 40).Draw(t, "documents")
		features := rapid.IntRange(1, 60).Draw(t, "features")
		sets := make([][]uint64, n)
		for i := range sets {
			sets[i] = likely(random, features)
			if i > 0 && random.IntN(3) == 0 { // a part of another one, and more
				for _, f := range sets[random.IntN(i)] {
					if random.IntN(8) > 0 {
						sets[i] = append(sets[i], f)
					}
				}
				slices.Sort(sets[i])
				sets[i] = slices.Compact(sets[i])
			}
		}
		of := rapid.SampledFrom([]measure.Measure{measure.Containment, measure.MaxContainment}).Draw(t, "measure")
		threshold, err := measure.NewThreshold(of, float64(rapid.IntRange(1, 20).Draw(t, "twentieths"))/20)
		if err != nil {
			t.Fatal(err)
		}
		policy := rapid.SampledFrom([]sides.Policy{sides.Self(), sides.Against(n / 3), sides.Between(n/2, nil)}).Draw(t, "sides")
		o := optionsOf(t, sets, samplesOf(sets, 1), int(policy.References()), 1)
		o.Threshold, o.Sides, o.Cap, o.Exact = threshold, &policy, 2, true
		o.listed = rapid.SampledFrom([]int64{0, 20, 200}).Draw(t, "listed at once")
		r, err := Candidates(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Release() }()
		found := entries(t, r.Pairs)
		for b := range uint32(n) {
			for a := range b {
				if policy.Meet(a, b) && (o.holds(sets, b, a) || o.holds(sets, a, b)) && found[graph.Key(a, b)] < exactAgree {
					t.Errorf("%v and %v are missed", sets[a], sets[b])
				}
			}
		}
		if r.Capped > 0 || r.Hot.Len() > 0 {
			t.Errorf("%d keys over a cap", r.Capped)
		}
	})
}

// holds tells whether b has enough of a, and that is looked for.
func (o *Options) holds(sets [][]uint64, a, b uint32) bool {
	common := 0
	for _, f := range sets[a] {
		if _, has := slices.BinarySearch(sets[b], f); has {
			common++
		}
	}
	return len(sets[a]) > 0 && o.inside(a) && common >= o.least(len(sets[a]))
}

// The features of a document that is read come in any order, and repeated.
func TestWhatContainsADocumentHasEnoughOfTheKeysChosenForIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		size := rapid.IntRange(1, 200).Draw(t, "features")
		threshold, err := measure.NewThreshold(measure.Containment, float64(rapid.IntRange(1, 20).Draw(t, "twentieths"))/20)
		if err != nil {
			t.Fatal(err)
		}
		o := &Options{}
		o.Threshold, o.Seed, o.Sample = threshold, testSeed, lsh.Sample{Size: exactAgree, Agree: exactAgree}
		inner, within := random.Perm(size), recipe.Within(rapid.SampledFrom([]uint64{0, 77}).Draw(t, "within"))
		outer := random.Perm(size)[:o.least(size)]
		features := numbers(inner)
		for range rapid.IntRange(0, 20).Draw(t, "repeated") {
			features = append(features, features[random.IntN(size)])
		}
		counts := newCounts(rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "counters"), 0)
		keysOf := func(features []uint64) []uint64 {
			keys := recipe.AppendSampleHashes(nil, features, testSeed)
			for i, key := range keys {
				keys[i] = within.Key(key)
			}
			return keys
		}
		counts.add(keysOf(features))
		counts.add(keysOf(numbers(outer)))
		for range rapid.IntRange(0, 5).Draw(t, "others") {
			counts.add(keysOf(likely(random, size)))
		}
		chooser := rarest{o: o, counts: counts}
		keys, votes := chooser.choose(features, within)
		got, has := 0, keysOf(numbers(outer))
		for _, key := range keys {
			if slices.Contains(has, key) {
				got += votes
			}
		}
		if got < exactAgree {
			t.Errorf("%d votes of %d keys with %d each", got, len(keys), votes)
		}
		sorted := slices.Sorted(slices.Values(keys))
		if len(slices.Compact(sorted)) < len(keys) {
			t.Error("a key is chosen twice")
		}
	})
}

func numbers(of []int) (features []uint64) {
	for _, f := range of {
		features = append(features, uint64(f))
	}
	return features
}

func TestCountsAreNeverTooLow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 4))
	c, want := newCounts(0, 0), map[uint64]int{}
	for range 3000 {
		keys := make([]uint64, random.IntN(100))
		for i := range keys {
			keys[i] = recipe.AppendSampleHashes(nil, []uint64{uint64(random.ExpFloat64() * 5000)}, testSeed)[0]
			want[keys[i]]++
		}
		c.add(keys)
	}
	exact := 0
	for key, n := range want {
		got := int(c.of(key))
		if got < min(n, countsMost) {
			t.Fatalf("counted %d times, %d are said", n, got)
		}
		if got == min(n, countsMost) {
			exact++
		}
	}
	if exact < len(want)/3 {
		t.Errorf("%d of %d counts are exact", exact, len(want))
	}
}

// A key of more documents than are seen at once comes in pieces; its two voters vote for all.
func TestAnExactKeyOfVeryManyDocuments(t *testing.T) {
	const docs = extsort.PartMax + 1000
	policy := sides.Between(2, nil)
	threshold, _ := measure.NewThreshold(measure.Containment, 1)
	sets := slices.Repeat([][]uint64{{7}}, docs)
	o := optionsOf(t, sets, samplesOf(sets, 1), 0, 1)
	o.Threshold, o.Sides, o.Exact, o.Cap = threshold, &policy, true, 10
	r, err := Candidates(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Release() }()
	if got, want := len(entries(t, r.Pairs)), 2*(docs-2); got != want {
		t.Errorf("%d pairs, want %d", got, want)
	}
}
