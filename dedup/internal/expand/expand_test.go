package expand

import (
	"context"
	"maps"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
)

func TestExpansionListsThePairsOfTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := roomtest.AnyFamily(t)
		limit := rapid.SampledFrom([]int{0, lsh.Hubs, lsh.Hubs + 3, 1000}).Draw(t, "limit")
		policy := sides.Against(g.References)
		o := Options{
			Graph: graph.Graph{Space: scratch.New(scratch.Options{Threads: 1}), Docs: g.Docs}, Table: g.Table(t), Sides: &policy,
			Cap: limit, Held: rapid.SampledFrom([]int{lsh.Hubs, 0}).Draw(t, "members in memory"), Classes: g.Members(t),
		}
		if rapid.Bool().Draw(t, "two collections") {
			both := bitset.New[uint32](g.References) // references are the left now
			for doc, first := range g.First {
				if doc >= g.References && int(first) < g.References {
					both.Add(first)
				}
			}
			policy = sides.Between(g.References, both)
		}
		sorted, _, err := Pairs(context.Background(), o, g.Edges(t))
		if err != nil {
			t.Fatal(err)
		}
		got := map[graph.Pair]float64{}
		for _, e := range roomtest.Entries(t, sorted) {
			if _, twice := got[graph.PairOf(e.Key)]; twice {
				t.Errorf("pair %v is there twice", graph.PairOf(e.Key))
			}
			got[graph.PairOf(e.Key)] = math.Float64frombits(e.Value)
		}
		want := map[graph.Pair]float64{}
		place, size := make([]int, g.Docs), map[uint32]int{} // in the class and side, of the class
		for doc, first := range g.First {
			place[doc] = size[first]
			size[first]++
			if policy.Side(uint32(doc)) == 1 {
				for other := range doc {
					if g.First[other] == first && policy.Side(uint32(other)) == 0 {
						place[doc]--
					}
				}
			}
		}
		crowd := func(doc uint32) bool {
			return limit > 0 && size[g.First[doc]] > limit && place[doc] >= lsh.Hubs
		}
		for a := range uint32(g.Docs) {
			for b := a + 1; b < uint32(g.Docs); b++ {
				x, y := g.First[a], g.First[b]
				similarity, similar := g.Similar[graph.Pair{A: min(x, y), B: max(x, y)}]
				if x == y {
					similarity, similar = 1, true
				}
				if similar && !(crowd(a) && crowd(b)) && policy.Partners(a).Has(b) {
					want[graph.Pair{A: a, B: b}] = similarity
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("limit %d, %+v:\n%v\nwant\n%v", limit, g, got, want)
		}
	})
}
