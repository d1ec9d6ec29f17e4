package hot_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/hot"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/simjoin"
)

// The room alone, from buckets made by hand: all similar pairs among the documents of hot
// buckets are found, and a document has the level of its smallest bucket.
func TestDocumentsOfHotBucketsAreJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		docs := roomtest.Sets(rng, rapid.IntRange(3, 60).Draw(t, "documents"), 12, 30)
		limit := rapid.IntRange(1, 4).Draw(t, "cap")
		smallest := map[uint64]int{} // the size of the smallest bucket of each document
		ownKeys := map[int]int{}
		var members []extsort.Entry
		for bucket := range rapid.IntRange(1, 4).Draw(t, "buckets") {
			size := rapid.IntRange(min(limit+1, len(docs)), len(docs)).Draw(t, "members")
			for _, doc := range rng.Perm(len(docs))[:size] {
				value := uint64(doc)
				if own := rng.IntN(3) > 0; own {
					ownKeys[doc]++
				} else {
					value |= graph.NotSampled
				}
				members = append(members, extsort.Entry{Key: uint64(bucket), Value: value})
				if before := smallest[uint64(doc)]; before == 0 || size < before {
					smallest[uint64(doc)] = size
				}
			}
		}
		policy, r := sides.Self(), roomtest.Recipe(t, 0.5, 0)
		space := scratch.New(scratch.Options{Threads: 2})
		g := graph.Graph{Space: space, Docs: len(docs)}
		records := reread.New(reread.Options{Table: roomtest.Table(t, 0, true, docs), Recipe: r, Space: space})
		o := hot.Options{
			Graph: g, Sides: &policy, Cap: limit,
			Join: exact.Options{
				Graph: g, Records: records, Edges: graph.Edges{Edges: engine.Edges{Threshold: r.Threshold()}, Sides: &policy}, Progress: roomtest.Progress{},
			},
			Forecast: forecast.Options{Recipe: r, Sides: &policy, Threshold: r.Threshold(), Cap: limit},
		}
		levels, err := hot.Levels(t.Context(), o, roomtest.Sorted(t, members))
		if err != nil {
			t.Fatal(err)
		}
		checkLevels(t, roomtest.Entries(t, levels), smallest)
		lost, err := hot.LostKeys(t.Context(), o, roomtest.Sorted(t, members), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range ownKeys {
			if k < len(lost) {
				lost[k]--
			}
		}
		if slices.ContainsFunc(lost, func(n int64) bool { return n != 0 }) {
			t.Errorf("of own keys %v remain %v", ownKeys, lost)
		}
		joined, err := hot.Join(t.Context(), o, levels)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []uint64
		for _, e := range roomtest.Entries(t, joined.Edges) {
			got = append(got, e.Key)
		}
		for a := range uint32(len(docs)) {
			if in := smallest[uint64(a)] > 0; joined.Docs.Has(a) != in {
				t.Errorf("document %d is joined: %v, it lies in a hot bucket: %v", a, !in, in)
			}
			for b := a + 1; b < uint32(len(docs)); b++ {
				x, y := docs[a].Set, docs[b].Set
				inter := uint64(simjoin.Intersection(x, y))
				if smallest[uint64(a)] > 0 && smallest[uint64(b)] > 0 && r.Threshold().Reached(inter, uint64(len(x)), uint64(len(y))) {
					want = append(want, graph.Key(a, b))
				}
			}
		}
		if !slices.Equal(got, want) || joined.Missed != 0 {
			t.Errorf("%d pairs, want %d, or others; %d documents are missed", len(got), len(want), joined.Missed)
		}
	})
}

// checkLevels checks that each document is there once, and that those of smaller buckets
// have no higher levels.
func checkLevels(t *rapid.T, levels []extsort.Entry, smallest map[uint64]int) {
	if len(levels) != len(smallest) {
		t.Fatalf("%d documents have levels, %d lie in hot buckets", len(levels), len(smallest))
	}
	for _, x := range levels {
		for _, y := range levels {
			if smallest[x.Key] == smallest[y.Key] && x.Value != y.Value || smallest[x.Key] < smallest[y.Key] && x.Value > y.Value {
				t.Errorf("buckets of %d and %d documents have levels %d and %d", smallest[x.Key], smallest[y.Key], x.Value, y.Value)
			}
		}
	}
}
