package graph_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
)

// anyPairs draws pairs a < b of n documents, each once.
func anyPairs(t *rapid.T, n uint32, name string) map[graph.Pair]uint64 {
	pairs := map[graph.Pair]uint64{}
	for range rapid.IntRange(0, 30).Draw(t, name) {
		a, b := rapid.Uint32Range(0, n-1).Draw(t, "a"), rapid.Uint32Range(0, n-1).Draw(t, "b")
		if a != b {
			pairs[graph.Pair{A: min(a, b), B: max(a, b)}] = rapid.Uint64Range(1, 5).Draw(t, "votes")
		}
	}
	return pairs
}

func sorted(t roomtest.T, pairs map[graph.Pair]uint64) *extsort.Sorted {
	var entries []extsort.Entry
	for p, value := range pairs {
		entries = append(entries, extsort.Entry{Key: p.Key(), Value: value})
	}
	return roomtest.Sorted(t, entries)
}

func pairsOf(t roomtest.T, s *extsort.Sorted) map[graph.Pair]uint64 {
	pairs := map[graph.Pair]uint64{}
	for _, e := range roomtest.Entries(t, s) {
		pairs[graph.PairOf(e.Key)] = e.Value
	}
	return pairs
}

// labelsOf are the smallest documents that pairs lead to, by following them until nothing
// changes.
func labelsOf(pairs map[graph.Pair]uint64) map[uint32]uint32 {
	labels := map[uint32]uint32{}
	for p := range pairs {
		labels[p.A], labels[p.B] = p.A, p.B
	}
	for changed := true; changed; {
		changed = false
		for p := range pairs {
			least := min(labels[p.A], labels[p.B])
			changed = changed || labels[p.A] != least || labels[p.B] != least
			labels[p.A], labels[p.B] = least, least
		}
	}
	return labels
}

func TestPairsAreMergedTakenAwayAndLabelled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		g := graph.Graph{Space: scratch.New(scratch.Options{Threads: 2}), Docs: n}
		a, b := anyPairs(t, n, "a"), anyPairs(t, n, "b")
		maps.DeleteFunc(b, func(p graph.Pair, _ uint64) bool { return a[p] != 0 && p.A%2 == 0 })
		sortedA, sortedB := sorted(t, a), sorted(t, b)

		without, err := g.Without(t.Context(), sortedA, sortedB)
		if err != nil {
			t.Fatal(err)
		}
		left := maps.Clone(a)
		maps.DeleteFunc(left, func(p graph.Pair, _ uint64) bool { return b[p] != 0 })
		if got := pairsOf(t, without); !maps.Equal(got, left) {
			t.Errorf("%v without %v is %v", a, b, got)
		}
		merged, err := g.Merge(t.Context(), without, sortedB)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(left, b)
		if got := pairsOf(t, merged); !maps.Equal(got, left) || merged.Len() != int64(len(left)) {
			t.Errorf("merged to %v, want %v", got, left)
		}

		labels, err := g.Components(t.Context(), merged)
		if err != nil {
			t.Fatal(err)
		}
		want := labelsOf(left)
		of := graph.NewLabels(labels)
		for doc := range uint32(n) {
			label, connected := want[doc]
			if !connected {
				label = doc
			}
			if got := of.Of(doc); got != label {
				t.Errorf("document %d has label %d, want %d", doc, got, label)
			}
		}
		if err := of.Close(); err != nil {
			t.Fatal(err)
		}
		byLabel, err := g.ByLabel(t.Context(), merged, labels)
		if err != nil {
			t.Fatal(err)
		}
		var ordered []extsort.Entry
		for p, votes := range left {
			ordered = append(ordered, extsort.Entry{Key: graph.Key(want[p.A], p.B), Value: votes<<32 | uint64(p.A)})
		}
		if got := roomtest.Entries(t, byLabel); !slices.Equal(got, roomtest.Entries(t, roomtest.Sorted(t, ordered))) {
			t.Errorf("by label %v, want %v", got, ordered)
		}
	})
}

func TestEdgesOfDirectedMeasuresSayWhatIsInside(t *testing.T) {
	at := func(m measure.Measure) measure.Threshold {
		limit, err := measure.NewThreshold(m, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		return limit
	}
	policy := sides.Against(3) // documents 0 to 2 are references
	for name, c := range map[string]struct {
		edges graph.Edges
		match measure.Match
		want  map[graph.Pair]float64
	}{
		"a symmetric measure has one":      {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Jaccard)}}, measure.Match{A: 4, B: 9, Intersection: 2, SizeA: 2, SizeB: 4}, map[graph.Pair]float64{{A: 4, B: 9}: 0.5}},
		"containment in one direction":     {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment)}}, measure.Match{A: 4, B: 9, Intersection: 2, SizeA: 8, SizeB: 3}, map[graph.Pair]float64{{A: 9, B: 4}: 2.0 / 3}},
		"containment in both directions":   {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment)}}, measure.Match{A: 4, B: 9, Intersection: 2, SizeA: 2, SizeB: 4}, map[graph.Pair]float64{{A: 4, B: 9}: 1, {A: 9, B: 4}: 0.5}},
		"what can be removed is one":       {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment), RemovesParts: true}, Sides: &policy}, measure.Match{A: 4, B: 9, Intersection: 2, SizeA: 2, SizeB: 4}, map[graph.Pair]float64{{A: 4, B: 9}: 1}},
		"an input inside a reference":      {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment), RemovesParts: true}, Sides: &policy}, measure.Match{A: 1, B: 9, Intersection: 2, SizeA: 9, SizeB: 4}, map[graph.Pair]float64{{A: 1, B: 9}: 0.5}},
		"a reference inside an input":      {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment), RemovesParts: true}, Sides: &policy}, measure.Match{A: 1, B: 9, Intersection: 2, SizeA: 2, SizeB: 5}, map[graph.Pair]float64{}},
		"a reference is never the smaller": {graph.Edges{Edges: engine.Edges{Threshold: at(measure.Containment), RemovesParts: true}, Sides: &policy}, measure.Match{A: 1, B: 9, Intersection: 2, SizeA: 2, SizeB: 4}, map[graph.Pair]float64{{A: 1, B: 9}: 0.5}},
	} {
		sorter, err := extsort.New(extsort.Options{})
		if err != nil {
			t.Fatal(err)
		}
		to := sorter.Appender()
		if err := c.edges.Add(to, c.match); err != nil {
			t.Fatal(err)
		}
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		added, err := sorter.Sort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[graph.Pair]float64{}
		for p, bits := range pairsOf(t, added) {
			got[p] = math.Float64frombits(bits)
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
