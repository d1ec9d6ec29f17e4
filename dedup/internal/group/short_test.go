package group

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
)

// Hashes of small numbers meet: of different features too, also of one set.
func TestEveryPairOfShortSetsThatReachesTheThresholdIsACandidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]measure.Measure{measure.Jaccard, measure.Dice, measure.Cosine}).Draw(t, "measure")
		threshold, err := measure.NewThreshold(m, rapid.SampledFrom([]float64{0.3, 0.5, 0.8, 0.9, 1}).Draw(t, "threshold"))
		if err != nil {
			t.Fatal(err)
		}
		sets := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, 15), 1, 10, rapid.ID), 2, 40).Draw(t, "sets")
		tokens := rapid.IntRange(4, 16).Draw(t, "hashes")
		docs, all := make([]roomtest.Doc, len(sets)), bitset.New[uint32](len(sets))
		for i, set := range sets {
			docs[i].Features = uint32(len(set))
			for _, feature := range set {
				docs[i].Hashes = append(docs[i].Hashes, uint32(feature%tokens)<<28)
			}
			all.Add(uint32(i))
		}
		o := Options{
			Graph: graph.Graph{Space: scratch.New(scratch.Options{Threads: 2}), Docs: len(sets)},
			Table: roomtest.Table(t, 0, false, docs), Docs: all, Threshold: threshold,
		}
		short := newPrefixes(threshold)
		short.paired = rapid.Bool().Draw(t, "paired")
		if short.counts, err = o.counts(context.Background()); err != nil {
			t.Fatal(err)
		}
		holders := map[uint64][]uint64{}
		err = o.Table.EachSegment(context.Background(), 1, func(_ int, s *doctable.Scan) error {
			return o.eachKey(s, 0, short, 0, uint32(len(sets)), func(doc uint32, shape outline, key uint64) error {
				holders[key] = append(holders[key], member(doc, shape))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		found := map[uint64]bool{}
		for key, members := range holders {
			for i, x := range members {
				for _, y := range members[i+1:] {
					a, b := docOf(x), docOf(y)
					if a == b {
						t.Errorf("document %d has key %x twice", a, key)
					}
					if short.mayReach(outline(x), outline(y)) {
						found[graph.Key(min(a, b), max(a, b))] = true
					}
				}
			}
		}
		for a := range sets {
			for b := a + 1; b < len(sets); b++ {
				inter := 0
				for _, feature := range sets[a] {
					if slices.Contains(sets[b], feature) {
						inter++
					}
				}
				alike := threshold.Reached(uint64(inter), uint64(len(sets[a])), uint64(len(sets[b])))
				if key := graph.Key(uint32(a), uint32(b)); alike && !found[key] {
					t.Errorf("%v: %d and %d are no candidates", threshold, sets[a], sets[b])
				}
			}
		}
	})
}

func TestOutlinesOfSetsThatShareLittleTellThemApart(t *testing.T) {
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	short := newPrefixes(threshold)
	rng := rand.New(rand.NewPCG(4, 4))
	set := func(n int) []uint64 {
		s := make([]uint64, n)
		for i := range s {
			s[i] = uint64(rng.Uint32())
		}
		return s
	}
	apart := 0
	for range 1000 {
		x, y := set(8), set(8)
		copy(y, x[:3])
		if !short.mayReach(outlineOf(x), outlineOf(y)) {
			apart++
		}
	}
	if apart < 950 {
		t.Errorf("%d of 1000 pairs of sets with 3 of 8 features in common are told apart", apart)
	}
	if x, y := set(8), set(11); short.mayReach(outlineOf(x), outlineOf(y)) {
		t.Error("8 features can be 0.8 of 11")
	}
	if unknown := outlineOf(set(outlineSizes)); unknown != 0 || !short.mayReach(unknown, outlineOf(set(8))) {
		t.Errorf("a set too large has outline %x", unknown)
	}
}

func TestFeaturesThatNobodyElseHoldsAreNoKeys(t *testing.T) {
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	c := newCounts(100)
	w := c.counter()
	w.add([]uint32{1 << 30, 2 << 30, 3 << 30, 2 << 30, 3 << 30, 3 << 30, 3 << 30, 3 << 30})
	w.flush()
	p := newPrefixes(threshold)
	p.counts = c
	keysOf := func(hashes ...uint32) []uint64 { return p.appendKeys(nil, c.look(nil, hashes)) }
	// Of three features the first two are the prefix, of which one is alone, and all three that of pairs.
	if keys := keysOf(3<<30, 2<<30, 1<<30); len(keys) != 1 || keys[0] != keysOf(2 << 30)[0] {
		t.Errorf("keys %x", keys)
	}
	p.paired = true
	if keys := keysOf(3<<30, 2<<30, 1<<30); len(keys) != 1 {
		t.Errorf("keys of pairs %x", keys)
	}
}

func TestCountsAreTheSameForAnyOrderAndGoroutines(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	hashes := make([]uint32, 40_000)
	truth := map[uint32]uint32{}
	for i := range hashes {
		hashes[i] = uint32(rng.ExpFloat64()*100) * 0x9e3779b1
		truth[hashes[i]]++
	}
	one := newCounts(int64(len(hashes)))
	w := one.counter()
	w.add(hashes)
	w.flush()
	several := newCounts(int64(len(hashes)))
	var workers sync.WaitGroup
	for part := range slices.Chunk(hashes, 9_999) {
		workers.Go(func() {
			slices.Sort(part)
			w := several.counter()
			w.add(part)
			w.flush()
		})
	}
	workers.Wait()
	if !slices.Equal(one.small, several.small) || !slices.Equal(one.large, several.large) {
		t.Error("the counts differ")
	}
	for h, n := range truth {
		if got := uint32(one.look(nil, []uint32{h})[0] >> 32); got < min(n, smallMost) || got == smallMost && got+one.many(h) < n {
			t.Errorf("hash %x was added %d times, counted %d and %d", h, n, got, one.many(h))
		}
	}
}

func BenchmarkShortKeys(b *testing.B) {
	const sets, size = 1 << 20, 7
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint32, sets*size)
	for i := range hashes {
		hashes[i] = rng.Uint32()
		if i%4 == 0 {
			hashes[i] = rng.Uint32N(1<<16) * 54321 // as often as others are in titles
		}
	}
	threshold, err := measure.NewThreshold(measure.Jaccard, 0.8)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			c := newCounts(int64(len(hashes)))
			to := c.counter()
			for i := 0; i < len(hashes); i += size {
				to.add(hashes[i : i+size])
			}
			to.flush()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*sets), "ns/set")
	})
	b.Run("keys", func(b *testing.B) {
		c := newCounts(int64(len(hashes)))
		to := c.counter()
		to.add(hashes)
		to.flush()
		p := newPrefixes(threshold)
		p.counts = c
		var keys, features []uint64
		for b.Loop() {
			keys = keys[:0]
			for i := 0; i < len(hashes); i += size {
				if len(features) == 0 {
					features = c.look(features, hashes[i:min(i+lookedUp/size*size, len(hashes))])
				}
				keys = p.appendKeys(keys, features[:size])
				features = features[size:]
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*sets), "ns/set")
		b.ReportMetric(float64(len(keys))/sets, "keys/set")
	})
}
