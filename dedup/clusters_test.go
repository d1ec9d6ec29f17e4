package dedup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// graph is documents in classes, and edges between the first ones of those.
type graph struct {
	n, refs int
	first   []uint32 // of the document's class
	edges   map[pair]float64
	lengths []uint32
}

// anyGraph draws a graph. Edges between references are left out, as the engine does.
func anyGraph(t *rapid.T) *graph {
	n := rapid.IntRange(1, 40).Draw(t, "documents")
	g := &graph{n: n, refs: rapid.IntRange(0, n/2).Draw(t, "references"), edges: map[pair]float64{}}
	copies := rapid.IntRange(1, n).Draw(t, "classes")
	firsts := map[int]uint32{}
	var reps []uint32
	for doc := range uint32(n) {
		class := rapid.IntRange(0, copies-1).Draw(t, "class")
		if _, ok := firsts[class]; !ok {
			firsts[class] = doc
			reps = append(reps, doc)
		}
		g.first = append(g.first, firsts[class])
		g.lengths = append(g.lengths, rapid.Uint32Range(1, 4).Draw(t, "length")) // many ties
	}
	for range rapid.IntRange(0, 2*len(reps)).Draw(t, "edges") {
		a, b := rapid.SampledFrom(reps).Draw(t, "a"), rapid.SampledFrom(reps).Draw(t, "b")
		if a, b = min(a, b), max(a, b); a != b && int(b) >= g.refs {
			g.edges[pair{a, b}] = float64(1+(a*31+b)%99) / 100
		}
	}
	return g
}

// run returns a run that has found the graph.
func (g *graph) run(t failer, c Config) *run {
	t.Helper()
	s := &segment{part: -1, resident: true, rows: g.n}
	for _, length := range g.lengths {
		s.docs = append(s.docs, document{textSize: length, features: 1})
	}
	table := &table{segments: []*segment{s}, blocks: []block{{docs: uint32(g.n)}}, hasSets: true}
	if err := table.number(); err != nil {
		t.Fatalf("%v", err)
	}
	table.refs = g.refs
	var members, edges []extsort.Entry
	sizes := map[uint32]int{}
	for _, first := range g.first {
		sizes[first]++
	}
	for doc, first := range g.first {
		if sizes[first] > 1 {
			members = append(members, extsort.Entry{Key: uint64(first), Value: uint64(doc)})
		}
	}
	for p, similarity := range g.edges {
		edges = append(edges, extsort.Entry{Key: p.key(), Value: math.Float64bits(similarity)})
	}
	c = c.withDefaults()
	recipe, err := c.Recipe()
	if err != nil {
		t.Fatalf("%v", err)
	}
	r := &run{config: c, recipe: recipe, table: table, sides: sides.Against(g.refs), summary: &Summary{}, work: &workspace{threads: 1}}
	r.classes = &classes{members: sortedOf(t, members)}
	r.edges = sortedOf(t, edges)
	return r
}

// fates is what becomes of documents: whom each gives way to, itself if it is kept,
// and the smallest document of its cluster.
type fates struct{ kept, label []uint32 }

// decided returns what groups and decide make of the graph.
func decided(t failer, r *run) (f fates, clusters int64, largest []int) {
	t.Helper()
	ctx := context.Background()
	members, err := r.groups(ctx)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c := &clustering{}
	if _, err := r.decide(ctx, c, members); err != nil {
		t.Fatalf("%v", err)
	}
	for doc := range uint32(r.table.n) {
		f.kept, f.label = append(f.kept, doc), append(f.label, doc)
	}
	fill := func(s *extsort.Sorted, into []uint32) {
		err := each(s, func(e extsort.Entry) error {
			into[e.Key] = uint32(e.Value)
			return nil
		})
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	fill(c.removed, f.kept)
	fill(c.labels, f.label)
	return f, c.clusters, c.largest
}

// groupsOf is the slow way to groups: of[i] is the one of document i. A class of a
// reference is a group of its own.
func (g *graph) groupsOf(star bool, prefer func(a, b uint32) bool) []uint32 {
	edges := []cluster.Edge{}
	for p := range g.edges {
		edges = append(edges, cluster.Edge{A: p.a, B: p.b})
	}
	var of []uint32
	if star {
		best := slices.Clone(g.first) // member by which a class is judged
		for doc := range uint32(g.n) {
			if first := g.first[doc]; int(first) >= g.refs && prefer(doc, best[first]) {
				best[first] = doc
			}
		}
		refs := g.refs
		of = cluster.Star(g.n, refs, edges, func(a, b uint32) bool {
			// Who is no representative comes last: it has no edge, and takes nobody.
			if isA, isB := g.first[a] == a, g.first[b] == b; isA != isB {
				return isA
			}
			return prefer(best[a], best[b])
		})
	} else {
		of = cluster.Components(g.n, edges)
	}
	groups := make([]uint32, g.n)
	for doc := range uint32(g.n) {
		first := g.first[doc]
		if groups[doc] = of[first]; int(first) < g.refs {
			groups[doc] = first
		}
	}
	return groups
}

// twin decides the slow way.
func (g *graph) twin(star bool, prefer func(a, b uint32) bool) (f fates, sizes []int) {
	groups := g.groupsOf(star, prefer)
	members := map[uint32][]uint32{}
	for doc := range uint32(g.n) {
		members[groups[doc]] = append(members[groups[doc]], doc)
	}
	f = fates{make([]uint32, g.n), make([]uint32, g.n)}
	for group, docs := range members {
		kept := uint32(math.MaxUint32)
		for _, doc := range docs {
			switch {
			case star && g.first[doc] != group: // the centre's own class is kept
			case kept == math.MaxUint32:
				kept = doc
			case int(docs[0]) < g.refs:
			case prefer(doc, kept):
				kept = doc
			}
		}
		for _, doc := range docs {
			f.kept[doc], f.label[doc] = kept, docs[0]
			if int(doc) < g.refs {
				f.kept[doc] = doc
			}
		}
		if len(docs) > 1 {
			sizes = append(sizes, len(docs))
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	return f, sizes
}

func TestGroupsAndWhatTheyKeepAreThoseOfTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		star := rapid.Bool().Draw(t, "star")
		keep, err := cluster.ParseKeep(rapid.SampledFrom([]string{"first", "last", "longest", "shortest"}).Draw(t, "keep"))
		if err != nil {
			t.Fatal(err)
		}
		r := g.run(t, Config{Keep: keep, Star: star})
		got, clusters, largest := decided(t, r)
		prefer := keep.Order(func(doc uint32) cluster.Meta { return cluster.Meta{Length: int64(g.lengths[doc])} })
		want, sizes := g.twin(star, prefer)
		if !slices.Equal(got.kept, want.kept) || !slices.Equal(got.label, want.label) {
			t.Fatalf("%+v\nkept  %v\nwant  %v\nlabel %v\nwant  %v", g, got.kept, want.kept, got.label, want.label)
		}
		if clusters != int64(len(sizes)) || !slices.Equal(largest, sizes[:min(len(sizes), largestMax)]) {
			t.Errorf("%d clusters %v, want %v", clusters, largest, sizes)
		}
		// Without references it is package cluster's own answer.
		if g.refs == 0 && !star {
			var edges []cluster.Edge
			for p := range g.edges {
				edges = append(edges, cluster.Edge{A: p.a, B: p.b})
			}
			for doc, first := range g.first {
				edges = append(edges, cluster.Edge{A: uint32(doc), B: first})
			}
			labels := cluster.Components(g.n, edges)
			if !slices.Equal(got.label, labels) || !slices.Equal(got.kept, cluster.Kept(labels, 0, prefer)) {
				t.Errorf("kept %v, labels %v; package cluster has others", got.kept, got.label)
			}
		}
	})
}

func TestExpansionListsThePairsOfTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		limit := rapid.SampledFrom([]int{0, lsh.Hubs, lsh.Hubs + 3, 1000}).Draw(t, "limit")
		c := Config{Candidates: CandidatesExact}
		if limit > 0 {
			c = Config{Candidates: CandidatesLSH, BucketCap: limit}
		}
		c.limits.members = rapid.SampledFrom([]int{lsh.Hubs, membersMax}).Draw(t, "members in memory")
		r := g.run(t, c)
		if rapid.Bool().Draw(t, "two collections") {
			both := newBitset(g.refs) // references are the left now
			for doc, first := range g.first {
				if doc >= g.refs && int(first) < g.refs {
					both.add(first)
				}
			}
			r.sides = sides.Between(g.refs, both)
		}
		sorted, err := r.expand(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got := map[pair]float64{}
		for _, e := range entriesOf(t, sorted) {
			if _, twice := got[pairOf(e.Key)]; twice {
				t.Errorf("pair %v is there twice", pairOf(e.Key))
			}
			got[pairOf(e.Key)] = math.Float64frombits(e.Value)
		}
		want := map[pair]float64{}
		place, size := make([]int, g.n), map[uint32]int{} // in the class and side, of the class
		for doc, first := range g.first {
			place[doc] = size[first]
			size[first]++
			if r.sides.Side(uint32(doc)) == 1 {
				for other := range doc {
					if g.first[other] == first && r.sides.Side(uint32(other)) == 0 {
						place[doc]--
					}
				}
			}
		}
		crowd := func(doc uint32) bool {
			return limit > 0 && size[g.first[doc]] > limit && place[doc] >= lsh.Hubs
		}
		for a := range uint32(g.n) {
			for b := a + 1; b < uint32(g.n); b++ {
				x, y := g.first[a], g.first[b]
				similarity, similar := g.edges[pair{min(x, y), max(x, y)}]
				if x == y {
					similarity, similar = 1, true
				}
				if similar && !(crowd(a) && crowd(b)) && r.sides.Partners(a).Has(b) {
					want[pair{a, b}] = similarity
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("limit %d, %+v:\n%v\nwant\n%v", limit, g, got, want)
		}
	})
}

func entriesOf(t failer, s *extsort.Sorted) (all []extsort.Entry) {
	t.Helper()
	err := each(s, func(e extsort.Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

func TestTheCutterHandsOutEveryPairOnceInUnitsOfLimitedSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		n := rapid.IntRange(2, 60).Draw(t, "documents")
		g := &graph{n: n, edges: map[pair]float64{}, first: make([]uint32, n), lengths: make([]uint32, n)}
		r := g.run(t, Config{})
		r.table.hasSets = rapid.Bool().Draw(t, "sets in memory")
		for i := range r.table.segments[0].docs {
			r.table.segments[0].docs[i].length = rng.Uint32N(unitBytes / 2)
		}
		v := &verifier{r: r}
		need := rapid.Uint64Range(0, 3).Draw(t, "votes")
		var entries []extsort.Entry
		var want []pair
		for a := range uint32(n) {
			for b := a + 1; b < uint32(n); b++ {
				if votes := rng.Uint64N(5); votes > 0 {
					key, value := pair{a, b}.key(), votes
					if v.fromRecords() { // as labelled makes them
						key, value = uint64(b), votes<<32|uint64(a)
					}
					entries = append(entries, extsort.Entry{Key: key, Value: value})
				}
			}
		}
		sorted := sortedOf(t, entries)
		for _, e := range entriesOf(t, sorted) {
			p, votes := pairOf(e.Key), e.Value
			if v.fromRecords() {
				p, votes = pair{uint32(e.Value), uint32(e.Key)}, e.Value>>32
			}
			if votes >= need {
				want = append(want, p)
			}
		}
		skip := rng.IntN(len(want) + 1)
		c := &cutter{v: v, in: sorted.Reader(), votes: need, skip: int64(skip), docs: r.table.cursor(), seen: map[uint32]bool{}}
		units := make(chan unit, len(want)+1)
		if err := errors.Join(c.cut(context.Background(), units), c.in.Close()); err != nil {
			t.Fatal(err)
		}
		close(units)
		var got []pair
		for u := range units {
			got = append(got, u.pairs...)
			checkUnit(t, r, v, u)
		}
		if !slices.Equal(got, want[skip:]) || c.done != int64(len(want)) || !c.ended {
			t.Errorf("%d pairs of %d, of which %d were to be passed over; %d counted", len(got), len(want), skip, c.done)
		}
	})
}

func checkUnit(t *rapid.T, r *run, v *verifier, u unit) {
	if len(u.pairs) == 0 || len(u.pairs) > unitPairs {
		t.Errorf("a unit of %d pairs", len(u.pairs))
	}
	if !v.fromRecords() {
		return
	}
	docs := map[uint32]bool{}
	for _, p := range u.pairs {
		docs[p.a], docs[p.b] = true, true
	}
	if !slices.Equal(u.docs, slices.Sorted(maps.Keys(docs))) {
		t.Errorf("documents %v of pairs %v", u.docs, u.pairs)
	}
	size := int64(0)
	last := u.pairs[len(u.pairs)-1]
	for doc := range docs {
		if doc != last.a && doc != last.b {
			size += int64(r.table.segments[0].docs[doc].length)
		}
	}
	if size >= unitBytes {
		t.Errorf("a unit that was full before its last pair: %d bytes", size)
	}
}

// Spokes and what crosses must connect what all candidates connect, also where a
// bucket is over the cap, so that only the pairs of its hubs are candidates.
func TestSparseSearchConnectsTheSameDocumentsThroughHotBuckets(t *testing.T) {
	for seed := range uint64(6) {
		inputs, references := troubleCorpus(t, 20+seed)
		for _, limit := range []int{2, lsh.Hubs - 1, smallCap} {
			for _, threads := range []int{1, 3} {
				c := Config{
					Inputs: []string{inputs}, Against: []string{references}, Candidates: CandidatesLSH,
					BucketCap: limit, Threshold: 0.6, Threads: threads,
				}
				want, capped := connected(t, c, false)
				got, _ := connected(t, c, true)
				if !slices.Equal(got, want) {
					t.Errorf("seed %d, cap %d: clusters differ", seed, limit)
				}
				if capped == 0 {
					t.Errorf("seed %d, cap %d: no bucket over it", seed, limit)
				}
			}
		}
	}
}

// connected returns the labels of the documents that edges join.
func connected(t *testing.T, c Config, sparse bool) (labels []extsort.Entry, capped int64) {
	t.Helper()
	r, err := newRun(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.close(true); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	if err := errors.Join(r.begin(ctx, ""), r.read(ctx), r.find(ctx, sparse)); err != nil {
		t.Fatal(err)
	}
	sorted, err := r.components(ctx, r.edges)
	if err != nil {
		t.Fatal(err)
	}
	return entries(t, sorted), r.summary.BucketsCapped
}

func (g *graph) String() string {
	return fmt.Sprintf("%d documents, %d references, classes %v, edges %v, lengths %v", g.n, g.refs, g.first, g.edges, g.lengths)
}
