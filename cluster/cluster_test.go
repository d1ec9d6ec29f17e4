package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyGraph draws a number of documents and edges between them, loops and repeats
// among them.
func anyGraph(t *rapid.T) (n int, edges []Edge) {
	n = rapid.IntRange(1, 40).Draw(t, "documents")
	document := rapid.Uint32Range(0, uint32(n-1))
	for range rapid.IntRange(0, 60).Draw(t, "edges") {
		edges = append(edges, Edge{document.Draw(t, "a"), document.Draw(t, "b")})
	}
	return n, edges
}

// shuffled returns the edges in another order and half of them turned around.
func shuffled(t *rapid.T, edges []Edge) []Edge {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
	other := slices.Clone(edges)
	r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	for i := range other {
		if r.IntN(2) == 0 {
			other[i] = Edge{other[i].B, other[i].A}
		}
	}
	return other
}

// spread is the definition of components: the smallest label spreads along edges
// until nothing changes.
func spread(n int, edges []Edge) []uint32 {
	labels := make([]uint32, n)
	for i := range labels {
		labels[i] = uint32(i)
	}
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
			if low := min(labels[e.A], labels[e.B]); labels[e.A] != low || labels[e.B] != low {
				labels[e.A], labels[e.B], changed = low, low, true
			}
		}
	}
	return labels
}

func TestComponentsAreLabelledByTheirSmallestDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		want := spread(n, edges)
		if got := Components(n, edges); !slices.Equal(got, want) {
			t.Errorf("Components(%d, %v) = %v, want %v", n, edges, got, want)
		}
		if got := Components(n, shuffled(t, edges)); !slices.Equal(got, want) {
			t.Errorf("in another order %v, want %v", got, want)
		}
	})
}

func TestUnionTellsWhetherTheSetsWereApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		u := New(n)
		for i, e := range edges {
			before := spread(n, edges[:i])
			if got, want := u.Union(e.A, e.B), before[e.A] != before[e.B]; got != want {
				t.Errorf("Union(%d, %d) = %v after %v", e.A, e.B, got, edges[:i])
			}
		}
		labels := u.AppendLabels([]uint32{7})
		if labels[0] != 7 || len(labels) != n+1 {
			t.Errorf("AppendLabels overwrote or miscounted: %v", labels)
		}
		for d, label := range labels[1:] {
			if u.Find(uint32(d)) != label {
				t.Errorf("Find(%d) = %d, its label is %d", d, u.Find(uint32(d)), label)
			}
		}
	})
}

func TestAMillionDocumentsInAChainAreOneCluster(t *testing.T) {
	const n = 1_000_000
	for name, edge := range map[string]func(i uint32) Edge{
		"upwards":   func(i uint32) Edge { return Edge{i, i + 1} },
		"downwards": func(i uint32) Edge { return Edge{n - 1 - i, n - 2 - i} },
	} {
		u := New(n)
		for i := range uint32(n - 1) {
			e := edge(i)
			u.Union(e.A, e.B)
		}
		if got := u.Find(n - 1); got != 0 {
			t.Errorf("%s: the last document is in the cluster of %d", name, got)
		}
	}
}

// slowStar is the definition: of the documents left the best is kept and takes
// its neighbours that are left, except references.
func slowStar(n, refs int, edges []Edge, prefer func(a, b uint32) bool) []uint32 {
	better := withReferences(refs, prefer)
	kept := make([]uint32, n)
	left := make(map[uint32]bool)
	for d := range n {
		left[uint32(d)] = true
	}
	for len(left) > 0 {
		best := ^uint32(0)
		for d := range left {
			if best == ^uint32(0) || better(d, best) {
				best = d
			}
		}
		kept[best] = best
		delete(left, best)
		for _, e := range append(slices.Clone(edges), turned(edges)...) {
			if e.A == best && left[e.B] && int(e.B) >= refs {
				kept[e.B] = best
				delete(left, e.B)
			}
		}
	}
	return kept
}

func turned(edges []Edge) []Edge {
	var other []Edge
	for _, e := range edges {
		other = append(other, Edge{e.B, e.A})
	}
	return other
}

// anyPreference draws grades with many ties.
func anyPreference(t *rapid.T, n int) func(a, b uint32) bool {
	grades := rapid.SliceOfN(rapid.IntRange(0, 4), n, n).Draw(t, "grades")
	return func(a, b uint32) bool { return grades[a] > grades[b] }
}

func TestStarEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		refs := rapid.IntRange(0, n/2).Draw(t, "references")
		prefer := anyPreference(t, n)
		want := slowStar(n, refs, edges, prefer)
		if got := Star(n, refs, edges, prefer); !slices.Equal(got, want) {
			t.Errorf("Star(%d, %d, %v) = %v, want %v", n, refs, edges, got, want)
		}
		if got := Star(n, refs, shuffled(t, edges), prefer); !slices.Equal(got, want) {
			t.Errorf("in another order %v, want %v", got, want)
		}
	})
}

func TestStarRemovesOnlyNeighboursOfKeptDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		refs := rapid.IntRange(0, n).Draw(t, "references")
		kept := Star(n, refs, edges, anyPreference(t, n))
		adjacent := func(a, b uint32) bool {
			return slices.Contains(edges, Edge{a, b}) || slices.Contains(edges, Edge{b, a})
		}
		for d, k := range kept {
			switch {
			case kept[k] != k:
				t.Errorf("%d is removed for %d, which is not kept", d, k)
			case int(k) != d && (d < refs || !adjacent(k, uint32(d))):
				t.Errorf("%d is removed for %d", d, k)
			}
		}
		for _, e := range edges {
			if e.A != e.B && kept[e.A] == e.A && kept[e.B] == e.B && (int(e.A) >= refs || int(e.B) >= refs) {
				t.Errorf("the neighbours %d and %d are both kept", e.A, e.B)
			}
		}
	})
}

func TestStarCutsChains(t *testing.T) {
	chain := []Edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}}
	byNumber := func(a, b uint32) bool { return a < b }
	for name, c := range map[string]struct {
		refs   int
		prefer func(a, b uint32) bool
		want   []uint32
	}{
		"from the first":    {0, byNumber, []uint32{0, 0, 2, 2, 4}},
		"from the last":     {0, func(a, b uint32) bool { return a > b }, []uint32{0, 2, 2, 4, 4}},
		"from the middle":   {0, func(a, b uint32) bool { return a == 2 && b != 2 }, []uint32{0, 2, 2, 2, 4}},
		"ties to the first": {0, func(a, b uint32) bool { return false }, []uint32{0, 0, 2, 2, 4}},
		"references stay":   {2, func(a, b uint32) bool { return a > b }, []uint32{0, 1, 1, 4, 4}},
	} {
		if got := Star(5, c.refs, chain, c.prefer); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestKeptIsTheBestOfEachCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		refs := rapid.IntRange(0, n).Draw(t, "references")
		prefer := anyPreference(t, n)
		labels := Components(n, edges)
		better := withReferences(refs, prefer)
		for d, k := range Kept(labels, refs, prefer) {
			if d < refs {
				if int(k) != d {
					t.Errorf("reference %d is removed for %d", d, k)
				}
				continue
			}
			if labels[k] != labels[d] {
				t.Errorf("%d is removed for %d of another cluster", d, k)
			}
			for other := range n {
				if labels[other] == labels[d] && better(uint32(other), k) {
					t.Errorf("%d is kept though %d is better", k, other)
				}
			}
		}
	})
}

func TestKeptLeavesReferencesAlone(t *testing.T) {
	labels := []uint32{0, 0, 0, 3, 3, 5}
	last := func(a, b uint32) bool { return a > b }
	want := []uint32{0, 1, 0, 4, 4, 5}
	if got := Kept(labels, 2, last); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkUnionFind(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(1, 1))
	edges := make([]Edge, n)
	for i := range edges {
		edges[i] = Edge{r.Uint32N(n), r.Uint32N(n)}
	}
	b.Run("Components", func(b *testing.B) {
		for b.Loop() {
			Components(n, edges)
		}
	})
	b.Run("Star", func(b *testing.B) {
		for b.Loop() {
			Star(n, 0, edges, func(a, b uint32) bool { return a < b })
		}
	})
}
