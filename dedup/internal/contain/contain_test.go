package contain

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// testSeed is that of the samples.
const testSeed = 5

// samplesOf returns the sample of each set: the smallest of its hashes.
func samplesOf(sets [][]uint64, size int) [][]uint64 {
	samples := make([][]uint64, len(sets))
	for i, set := range sets {
		hashes := recipe.AppendSampleHashes(nil, set, testSeed)
		slices.Sort(hashes)
		samples[i] = hashes[:min(size, len(hashes))]
	}
	return samples
}

// optionsOf has the sets in a table, the first of them references.
func optionsOf(t roomtest.T, sets, samples [][]uint64, references int, size int) Options {
	docs, reps := make([]roomtest.Doc, len(sets)), bitset.New[uint32](len(sets))
	for doc, set := range sets {
		keys := append(slices.Clone(samples[doc]), slices.Repeat([]uint64{recipe.NoKey}, size-len(samples[doc]))...)
		docs[doc] = roomtest.Doc{Keys: keys, Set: set}
		docs[doc].Features = uint32(len(set))
		if len(set) > 0 {
			reps.Add(uint32(doc))
		}
	}
	space := scratch.New(scratch.Options{Threads: 2})
	return Options{
		Graph:   graph.Graph{Space: space, Docs: len(sets)},
		Records: reread.New(reread.Options{Table: roomtest.Table(t, references, true, docs), Space: space}),
		Docs:    reps, Sampling: engine.Sampling{Seed: testSeed}, Progress: roomtest.Progress{},
	}
}

// slowCandidates are the candidates, by looking at each pair.
func slowCandidates(o Options, sets, samples [][]uint64) map[uint64]bool {
	found := map[uint64]bool{}
	enough := func(a, b int) bool { // of the sample of a in b
		if !o.inside(uint32(a)) || len(sets[a]) == 0 {
			return false
		}
		size, votes := uint64(len(sets[a])), 0
		for _, h := range recipe.AppendSampleHashes(nil, sets[b], testSeed) {
			if slices.Contains(samples[a], h) {
				votes += o.Sample.Votes(int(o.Threshold.MinOverlap(size, size)))
			}
		}
		return votes >= o.Sample.Agree
	}
	for a := range sets {
		for b := range a {
			if (enough(a, b) || enough(b, a)) && o.Sides.Meet(uint32(a), uint32(b)) {
				found[graph.Key(uint32(b), uint32(a))] = true
			}
		}
	}
	return found
}

func entries(t roomtest.T, s *extsort.Sorted) map[uint64]uint64 {
	all := map[uint64]uint64{}
	err := s.Visit(func(e extsort.Entry) error {
		all[e.Key] += e.Value
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

func TestCandidatesAreThoseThatHaveEnoughOfASample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(1, 40).Draw(t, "documents")
		features := rapid.IntRange(1, 60).Draw(t, "features")
		sets := make([][]uint64, n)
		for i := range sets {
			sets[i] = likely(random, features)
		}
		of := rapid.SampledFrom([]measure.Measure{measure.Containment, measure.MaxContainment}).Draw(t, "measure")
		threshold, err := measure.NewThreshold(of, float64(rapid.IntRange(1, 10).Draw(t, "tenths"))/10)
		if err != nil {
			t.Fatal(err)
		}
		policy := rapid.SampledFrom([]sides.Policy{sides.Self(), sides.Against(n / 3), sides.Between(n/2, nil)}).Draw(t, "sides")
		sample := lsh.Sample{Size: rapid.IntRange(3, 9).Draw(t, "size"), Agree: rapid.IntRange(1, 3).Draw(t, "agree")}
		samples := samplesOf(sets, sample.Size)
		o := optionsOf(t, sets, samples, int(policy.References()), sample.Size)
		o.Threshold, o.Sample, o.Sides = threshold, sample, &policy
		o.Cap, o.Sizes = rapid.SampledFrom([]int{1000, 1000, 2, 10}).Draw(t, "cap"), rapid.Bool().Draw(t, "sizes")
		o.listed = rapid.SampledFrom([]int64{0, 20, 200}).Draw(t, "listed at once")
		r, err := Candidates(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Release() }()
		got, want := entries(t, r.Pairs), slowCandidates(o, sets, samples)
		for pair := range got {
			if !want[pair] {
				t.Errorf("pair %x is no candidate", pair)
			}
		}
		if r.Capped == 0 && len(got) < len(want) {
			t.Errorf("%d candidates of %d", len(got), len(want))
		}
		checkHot(t, o, sets, samples, r)
		if o.Sizes != (r.Sizes != nil) {
			t.Fatalf("sizes wanted: %v, made: %v", o.Sizes, r.Sizes != nil)
		}
		if o.Sizes {
			sizes := entries(t, r.Sizes)
			for pair := range got {
				if p := graph.PairOf(pair); sizes[uint64(p.A)] == 0 || sizes[uint64(p.B)] == 0 {
					t.Errorf("a document of pair %x has no size", pair)
				}
			}
			for doc, size := range sizes {
				if int(size) != len(sets[doc]) {
					t.Errorf("document %d has size %d, want %d", doc, size, len(sets[doc]))
				}
			}
		}
	})
}

// checkHot checks that the documents of all keys over the cap are noted, and no others.
func checkHot(t *rapid.T, o Options, sets, samples [][]uint64, r *Found) {
	sampled := map[uint64]int{}
	for doc, s := range samples {
		for _, h := range s {
			if o.inside(uint32(doc)) {
				sampled[h]++
			}
		}
	}
	has := map[uint64]int{}
	for _, set := range sets {
		for _, h := range recipe.AppendSampleHashes(nil, set, testSeed) {
			has[h]++
		}
	}
	var capped, members int
	for h, n := range has {
		if 2*sampled[h]*n > o.Cap*o.Cap {
			capped++
			members += n
		}
	}
	if int(r.Capped) != capped || int(r.Hot.Len()) != members {
		t.Errorf("%d keys over the cap with %d documents, want %d with %d", r.Capped, r.Hot.Len(), capped, members)
	}
}

// A key of more documents than are seen at once comes in pieces.
func TestAKeyOfVeryManyDocumentsIsPairedWithItsFirstOnly(t *testing.T) {
	const docs = extsort.PartMax + 1000
	policy := sides.Self()
	threshold, _ := measure.NewThreshold(measure.Containment, 1)
	sets := slices.Repeat([][]uint64{{7}}, docs)
	samples := samplesOf(sets, 1)
	o := optionsOf(t, sets, samples, 0, 1)
	o.Threshold, o.Sample, o.Sides, o.Cap = threshold, lsh.Sample{Size: 1, Agree: 1}, &policy, 1000
	r, err := Candidates(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Release() }()
	if r.Capped != 1 || r.Hot.Len() != docs {
		t.Errorf("%d keys over the cap with %d documents", r.Capped, r.Hot.Len())
	}
	if got, want := len(entries(t, r.Pairs)), lsh.Hubs*docs-lsh.Hubs*(lsh.Hubs+1)/2; got != want {
		t.Errorf("%d pairs, want %d", got, want)
	}
}
