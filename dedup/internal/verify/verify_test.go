package verify

import (
	"context"
	"errors"
	"maps"
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
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/journal"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// anyPairs draws documents with sets, and pairs of them with votes.
func anyPairs(t *rapid.T, without bool) (o Options, docs []roomtest.Doc, pairs []extsort.Entry) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	docs = roomtest.Sets(rng, rapid.IntRange(2, 60).Draw(t, "documents"), 12, 30)
	for doc := range docs {
		docs[doc].Length = rng.Uint32N(unitBytes / 2)
	}
	for a := range uint32(len(docs)) {
		for b := a + 1; b < uint32(len(docs)); b++ {
			if votes := rng.Uint64N(5); votes > 0 {
				pairs = append(pairs, extsort.Entry{Key: graph.Key(a, b), Value: votes})
			}
		}
	}
	space := scratch.New(scratch.Options{Threads: 2})
	r := roomtest.Recipe(t, float64(rapid.IntRange(20, 95).Draw(t, "threshold in percent"))/100, 0)
	return Options{
		Graph:    graph.Graph{Space: space, Docs: len(docs)},
		Records:  reread.New(reread.Options{Table: roomtest.Table(t, 0, !without, docs), Recipe: r, Space: space}),
		Edges:    graph.Edges{Edges: engine.Edges{Threshold: r.Threshold()}},
		Progress: roomtest.Progress{},
	}, docs, pairs
}

// The room alone, from pairs made by hand.
func TestVerifiedPairsHaveTheirExactSimilarity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, docs, pairs := anyPairs(t, false)
		what := Query{
			Pairs: roomtest.Sorted(t, pairs), Votes: rapid.Uint64Range(0, 3).Draw(t, "votes"), Rate: rapid.Bool().Draw(t, "rate"),
		}
		if rapid.Bool().Draw(t, "some are known") {
			what.Known = bitset.New[uint32](len(docs))
			for doc := range uint32(len(docs)) {
				if rapid.Bool().Draw(t, "known") {
					what.Known.Add(doc)
				}
			}
		}
		edges, compared, err := Pairs(t.Context(), o, what)
		if err != nil {
			t.Fatal(err)
		}
		var want []extsort.Entry
		n := int64(0)
		for _, e := range pairs {
			p := graph.PairOf(e.Key)
			if e.Value < what.Votes || what.Known != nil && what.Known.Has(p.A) && what.Known.Has(p.B) {
				continue
			}
			n++
			x, y := docs[p.A].Set, docs[p.B].Set
			inter := simjoin.Intersection(x, y)
			if what.Rate || o.Records.Recipe.Threshold().Reached(uint64(inter), uint64(len(x)), uint64(len(y))) {
				similarity := float64(inter) / float64(len(x)+len(y)-inter)
				want = append(want, extsort.Entry{Key: e.Key, Value: math.Float64bits(similarity)})
			}
		}
		if got := roomtest.Entries(t, edges); compared != n || !slices.Equal(got, want) {
			t.Errorf("%d compared, edges %v\nwant %d, %v", compared, got, n, want)
		}
	})
}

func TestTheCutterHandsOutEveryPairOnceInUnitsOfLimitedSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, docs, pairs := anyPairs(t, rapid.Bool().Draw(t, "sets made again"))
		need := rapid.Uint64Range(0, 3).Draw(t, "votes")
		var want []graph.Pair
		if v.fromRecords() { // as ByLabel makes them
			for i, e := range pairs {
				p := graph.PairOf(e.Key)
				pairs[i] = extsort.Entry{Key: uint64(p.B), Value: e.Value<<32 | uint64(p.A)}
			}
		}
		sorted := roomtest.Sorted(t, pairs)
		for _, e := range roomtest.Entries(t, sorted) {
			p, votes := graph.PairOf(e.Key), e.Value
			if v.fromRecords() {
				p, votes = graph.Pair{A: uint32(e.Value), B: uint32(e.Key)}, e.Value>>32
			}
			if votes >= need {
				want = append(want, p)
			}
		}
		skip := rapid.IntRange(0, len(want)).Draw(t, "skip")
		c := &cutter{v: &v, what: &Query{Votes: need}, in: sorted.Reader(), skip: int64(skip), docs: v.Records.Table.Cursor(), seen: map[uint32]bool{}}
		units := make(chan unit, len(want)+1)
		if err := errors.Join(c.cut(context.Background(), units), c.in.Close()); err != nil {
			t.Fatal(err)
		}
		close(units)
		var got []graph.Pair
		for u := range units {
			got = append(got, u.pairs...)
			checkUnit(t, docs, &v, u)
		}
		if !slices.Equal(got, want[skip:]) || c.done != int64(len(want)) || !c.ended {
			t.Errorf("%d pairs of %d, of which %d were to be passed over; %d counted", len(got), len(want), skip, c.done)
		}
	})
}

// A note counts the pairs that were gone through: one that is made before those of the last one are
// passed over would have their edges made again.
func TestNothingIsNotedBeforeThereIsSomethingNew(t *testing.T) {
	space := scratch.New(scratch.Options{FS: vfstest.NewMem(), Threads: 1})
	log, err := resume.Open(t.Context(), space, resume.Options{Folder: "work", Settings: func(func(journal.Setting) bool) {}, Due: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(true); err != nil {
			t.Error(err)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		v, _, pairs := anyPairs(t, false)
		v.Log = log
		skip := rapid.IntRange(0, len(pairs)).Draw(t, "skip")
		c := &cutter{v: &v, what: &Query{Kind: "so-far"}, in: roomtest.Sorted(t, pairs).Reader(), skip: int64(skip), docs: v.Records.Table.Cursor()}
		units := make(chan unit, 1)
		if err := errors.Join(c.cut(context.Background(), units), c.in.Close()); err != nil {
			t.Fatal(err)
		}
		if want := min(skip+1, len(pairs)); c.done != int64(want) || len(units) != want-skip {
			t.Errorf("%d of %d pairs passed over: %d are gone through at the first note, in %d units", skip, len(pairs), c.done, len(units))
		}
	})
}

func checkUnit(t *rapid.T, docs []roomtest.Doc, v *Options, u unit) {
	if len(u.pairs) == 0 || len(u.pairs) > unitPairs {
		t.Errorf("a unit of %d pairs", len(u.pairs))
	}
	if !v.fromRecords() {
		return
	}
	of := map[uint32]bool{}
	for _, p := range u.pairs {
		of[p.A], of[p.B] = true, true
	}
	if !slices.Equal(u.docs, slices.Sorted(maps.Keys(of))) {
		t.Errorf("documents %v of pairs %v", u.docs, u.pairs)
	}
	size := int64(0)
	last := u.pairs[len(u.pairs)-1]
	for doc := range of {
		if doc != last.A && doc != last.B {
			size += int64(docs[doc].Length)
		}
	}
	if size >= unitBytes {
		t.Errorf("a unit that was full before its last pair: %d bytes", size)
	}
}
