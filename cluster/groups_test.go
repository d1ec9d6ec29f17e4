package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A group is a component, its inner similarity the mean of its links, and it falls apart when what is not stronger than
// its weakest link is taken away, but not when only what is weaker is.
func TestGroupsFallApartWithoutTheirWeakestLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := anyGraph(t)
		links := make([]Link, len(edges))
		for i, e := range edges {
			links[i] = Link{Edge{min(e.A, e.B), max(e.A, e.B)}, float64(rapid.IntRange(1, 5).Draw(t, "similarity"))}
		}
		groups := Groups(n, links)
		labels, members := Components(n, edges), 0
		for i, g := range groups {
			if i > 0 && len(g.Members) > len(groups[i-1].Members) {
				t.Errorf("a larger group comes later")
			}
			var sum, count float64
			var weaker, stronger []Edge
			for _, l := range links {
				if labels[l.A] != labels[g.Members[0]] {
					continue
				}
				sum, count = sum+l.Similarity, count+1
				if l.Similarity >= g.Weakest.Similarity {
					weaker = append(weaker, l.Edge)
				}
				if l.Similarity > g.Weakest.Similarity {
					stronger = append(stronger, l.Edge)
				}
			}
			whole := func(edges []Edge) bool {
				of := Components(n, edges)
				return !slices.ContainsFunc(g.Members, func(d uint32) bool { return of[d] != g.Members[0] })
			}
			if !whole(weaker) || whole(stronger) || math.Abs(g.Inner-sum/count) > 1e-9 {
				t.Errorf("%+v of %v", g, links)
			}
			members += len(g.Members)
		}
		for d, label := range labels {
			if label != uint32(d) || slices.Contains(labels[d+1:], label) {
				members--
			}
		}
		if members != 0 {
			t.Errorf("groups have %d members too many", members)
		}
		rand.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		if other := Groups(n, links); !slices.EqualFunc(groups, other, func(a, b Group) bool {
			return slices.Equal(a.Members, b.Members) && math.Abs(a.Inner-b.Inner) < 1e-9 && a.Weakest == b.Weakest
		}) {
			t.Errorf("in another order %v, want %v", other, groups)
		}
	})
}
