package exact

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/simjoin"
)

// anyJoin draws documents with sets, in one collection or two.
func anyJoin(t *rapid.T) (o Options, docs []roomtest.Doc) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
	docs = roomtest.Sets(rng, rapid.IntRange(1, 40).Draw(t, "documents"), 12, 30)
	first := rapid.IntRange(0, len(docs)).Draw(t, "documents of the first side")
	policy := sides.Against(first)
	if rapid.Bool().Draw(t, "two collections") {
		both := bitset.New[uint32](first)
		for rep := range first {
			if rng.IntN(4) == 0 {
				both.Add(uint32(rep))
			}
		}
		policy = sides.Between(first, both)
	}
	space := scratch.New(scratch.Options{Threads: 2})
	r := roomtest.Recipe(t, float64(rapid.IntRange(20, 95).Draw(t, "threshold in percent"))/100, 0)
	return Options{
		Graph:   graph.Graph{Space: space, Docs: len(docs)},
		Records: reread.New(reread.Options{Table: roomtest.Table(t, 0, true, docs), Recipe: r, Space: space}),
		Edges:   graph.Edges{Edges: engine.Edges{Threshold: r.Threshold()}, Sides: &policy}, Progress: roomtest.Progress{},
		IndexMost: rapid.SampledFrom([]int{0, 1, 50}).Draw(t, "features of an index"),
	}, docs
}

func allOf(n int) bitset.Set[uint32] {
	all := bitset.New[uint32](n)
	for doc := range uint32(n) {
		all.Add(doc)
	}
	return all
}

// The room alone, from sets made by hand: it finds what comparing all with all finds.
func TestAJoinFindsWhatComparingAllFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, docs := anyJoin(t)
		edges, err := Join(t.Context(), o, Query{Docs: allOf(len(docs)), Kind: "joined"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint64]float64{}
		for b := range uint32(len(docs)) {
			for a := range b {
				x, y := docs[a].Set, docs[b].Set
				inter := uint64(simjoin.Intersection(x, y))
				if o.Edges.Sides.Meet(a, b) && o.Edges.Threshold.Reached(inter, uint64(len(x)), uint64(len(y))) {
					want[graph.Key(a, b)] = float64(inter) / float64(uint64(len(x)+len(y))-inter)
				}
			}
		}
		found := roomtest.Entries(t, edges)
		for _, e := range found {
			if want[e.Key] != math.Float64frombits(e.Value) {
				t.Errorf("edge %v: %v, want %v", graph.PairOf(e.Key), math.Float64frombits(e.Value), want[e.Key])
			}
		}
		if len(found) != len(want) {
			t.Errorf("%d edges, want %d", len(found), len(want))
		}
	})
}

func TestAJoinThatFindsTooMuchIsGivenUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, docs := anyJoin(t)
		what := Query{Docs: allOf(len(docs)), Kind: "joined"}
		edges, err := Join(t.Context(), o, what)
		if err != nil {
			t.Fatal(err)
		}
		what.Limit = rapid.Int64Range(1, 40).Draw(t, "limit")
		_, err = Join(t.Context(), o, what)
		if tooMany := edges.Len() > what.Limit; tooMany != errors.Is(err, ErrManyEdges) || !tooMany && err != nil {
			t.Errorf("%d edges, limit %d: error %v", edges.Len(), what.Limit, err)
		}
	})
}

func TestAJoinAcrossIndexesTheSmallerSideAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, docs := anyJoin(t)
		if !o.Edges.Sides.Apart() {
			t.Skip("one collection")
		}
		o.IndexMost = 1 << 20
		all := allOf(len(docs))
		var features [2]int
		var on [2][]uint32
		for doc := range uint32(len(docs)) {
			if o.Edges.Sides.Left(doc) {
				features[0] += len(docs[doc].Set)
				on[0] = append(on[0], doc)
			}
			if o.Edges.Sides.Right(doc) {
				features[1] += len(docs[doc].Set)
				on[1] = append(on[1], doc)
			}
		}
		want := on[1]
		if features[0] < features[1] {
			want = on[0]
		}
		j := &joiner{Query: Query{Docs: all}, Options: o}
		var err error
		if j.index, err = smallerSide(o.Records.Table, o.Edges.Sides, all); err != nil {
			t.Fatal(err)
		}
		chunk, err := j.load(t.Context(), 0)
		if err != nil || !slices.Equal(chunk.docs, want) {
			t.Errorf("%v are indexed, want %v, error %v", chunk.docs, want, err)
		}
	})
}
