package assignment

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawEdges(t *rapid.T, left, right int) (edges []Edge) {
	for range rapid.IntRange(0, 14).Draw(t, "edges") {
		edges = append(edges, Edge{
			uint32(rapid.IntRange(0, left-1).Draw(t, "a")), uint32(left + rapid.IntRange(0, right-1).Draw(t, "b")),
			rapid.Int64Range(0, 6).Draw(t, "weight"),
		})
	}
	return edges
}

// heaviest is the largest sum of weights of edges that share no node, by trying all sets.
func heaviest(edges []Edge, used map[uint32]bool) int64 {
	if len(edges) == 0 {
		return 0
	}
	e := edges[0]
	best := heaviest(edges[1:], used)
	if !used[e.A] && !used[e.B] && e.A != e.B {
		used[e.A], used[e.B] = true, true
		best = max(best, e.Weight+heaviest(edges[1:], used))
		delete(used, e.A)
		delete(used, e.B)
	}
	return best
}

func weigh(t *rapid.T, edges []Edge, chosen []int) (sum int64) {
	used := map[uint32]bool{}
	for _, i := range chosen {
		e := edges[i]
		if used[e.A] || used[e.B] || e.A == e.B {
			t.Fatalf("edge %v shares a node with another one of %v", e, chosen)
		}
		used[e.A], used[e.B] = true, true
		sum += e.Weight
	}
	return sum
}

func TestAMatchingIsTheHeaviestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left, right := rapid.IntRange(1, 5).Draw(t, "left"), rapid.IntRange(1, 5).Draw(t, "right")
		edges := drawEdges(t, left, right)
		chosen, s := Match(edges, left+right, 100)
		if s.Greedy != 0 {
			t.Fatalf("%d components are greedy", s.Greedy)
		}
		if got, want := weigh(t, edges, chosen), heaviest(edges, map[uint32]bool{}); got != want {
			t.Fatalf("%v of %v weighs %d, want %d", chosen, edges, got, want)
		}
	})
}

// TestAnyGraphGetsAMatchingAtLeastHalfAsHeavy holds what greedy matchings are known to reach,
// in graphs with odd cycles, edges to themselves, and components over the limit.
func TestAnyGraphGetsAMatchingAtLeastHalfAsHeavy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 7).Draw(t, "nodes")
		edges := drawEdges(t, nodes, 1)
		for i := range edges {
			edges[i].B = uint32(rapid.IntRange(0, nodes-1).Draw(t, "b"))
		}
		chosen, _ := Match(edges, nodes, rapid.IntRange(0, 7).Draw(t, "limit"))
		if got, best := weigh(t, edges, chosen), heaviest(edges, map[uint32]bool{}); 2*got < best {
			t.Fatalf("%v of %v weighs %d, the heaviest %d", chosen, edges, got, best)
		}
	})
}

func TestComponentsThatAreLargeOrHaveOddCyclesAreGreedy(t *testing.T) {
	path := []Edge{{0, 4, 2}, {1, 4, 3}, {1, 5, 2}} // the heaviest edge is not in the heaviest matching
	for _, c := range []struct {
		name   string
		edges  []Edge
		limit  int
		chosen []int
		want   Summary
	}{
		{"no edges", nil, 10, nil, Summary{}},
		{"small", path, 4, []int{0, 2}, Summary{1, 0}},
		{"over the limit", path, 3, []int{1}, Summary{1, 1}},
		{"one of each", slices.Concat(path, []Edge{{2, 6, 1}}), 3, []int{1, 3}, Summary{2, 1}},
		{"a triangle", []Edge{{0, 1, 2}, {1, 2, 3}, {0, 2, 2}}, 10, []int{1}, Summary{1, 1}},
		{"a node and itself", []Edge{{0, 0, 5}, {0, 4, 1}}, 10, []int{1}, Summary{1, 0}},
		{"equal weights, the first", []Edge{{0, 4, 1}, {0, 5, 1}}, 10, []int{0}, Summary{1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			chosen, s := Match(c.edges, 8, c.limit)
			if fmt.Sprint(chosen) != fmt.Sprint(c.chosen) || s != c.want {
				t.Errorf("%v, %+v; want %v, %+v", chosen, s, c.chosen, c.want)
			}
		})
	}
}

func BenchmarkMatchOfAComponentOfAThousand(b *testing.B) {
	var edges []Edge
	for i := range uint32(500) {
		for j := range uint32(20) {
			h := (i*31 + j) * 2654435761
			edges = append(edges, Edge{i, 500 + h>>8%500, int64(h >> 12)})
		}
	}
	for b.Loop() {
		Match(edges, 1000, 1000)
	}
}
