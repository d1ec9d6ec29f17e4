package clusters

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
)

// fates is what becomes of documents: whom each gives way to, itself if it is kept,
// and the smallest document of its cluster.
type fates struct{ kept, label []uint32 }

// someClusterOptions are those of documents with an edge or a copy.
func someClusterOptions(t roomtest.T, g *roomtest.Family, keep cluster.Keep, star bool) Options {
	policy, space, docs := sides.Against(g.References), scratch.New(scratch.Options{Threads: 1}), g.Table(t)
	of := graph.Graph{Space: space, Docs: g.Docs}
	records := reread.New(reread.Options{Table: docs, Recipe: roomtest.Recipe(t, 0.8, 0), Space: space})
	return Options{
		Graph: of, Table: docs, Sides: &policy, Keep: keep, Star: star,
		Verify: verify.Options{Graph: of, Records: records, Progress: roomtest.Progress{}},
	}
}

// decided returns what is found in the graph. It holds the similarities against the edges, and
// against the sets, which are all equal, where there is none.
func decided(t roomtest.T, g *roomtest.Family, o Options) (f fates, clusters int64, largest []int) {
	t.Helper()
	c, err := Find(context.Background(), o, g.Members(t), g.Edges(t))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for doc := range uint32(g.Docs) {
		f.kept, f.label = append(f.kept, doc), append(f.label, doc)
	}
	fill := func(s *extsort.Sorted, into []uint32) {
		err := s.Visit(func(e extsort.Entry) error {
			into[e.Key] = uint32(e.Value)
			return nil
		})
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	fill(c.Removed, f.kept)
	fill(c.Labels, f.label)
	similarities := map[uint64]float64{}
	for _, e := range roomtest.Entries(t, c.Similarities) {
		similarities[e.Key] = math.Float64frombits(e.Value)
	}
	for doc := range uint32(g.Docs) {
		a, b := g.First[doc], g.First[f.kept[doc]]
		want, found := g.Similar[graph.Pair{A: min(a, b), B: max(a, b)}]
		if !found {
			want = 1
		}
		if got, told := similarities[uint64(doc)]; told != (a != b) || told && got != want {
			t.Errorf("%+v\ndocument %d is kept by %d with similarity %v, %v; want %v", g, doc, f.kept[doc], got, told, want)
		}
	}
	for _, one := range c.Largest {
		largest = append(largest, one.Size)
	}
	return f, c.Clusters, largest
}

// groupsOf is the slow way to groups: of[i] is the one of document i. A class of a
// reference is a group of its own.
func groupsOf(g *roomtest.Family, star bool, prefer func(a, b uint32) bool) []uint32 {
	edges := []cluster.Edge{}
	for p := range g.Similar {
		edges = append(edges, cluster.Edge{A: p.A, B: p.B})
	}
	var of []uint32
	if star {
		best := slices.Clone(g.First) // member by which a class is judged
		for doc := range uint32(g.Docs) {
			if first := g.First[doc]; int(first) >= g.References && prefer(doc, best[first]) {
				best[first] = doc
			}
		}
		refs := g.References
		of = cluster.Star(g.Docs, refs, edges, func(a, b uint32) bool {
			// Who is no representative comes last: it has no edge, and takes nobody.
			if isA, isB := g.First[a] == a, g.First[b] == b; isA != isB {
				return isA
			}
			return prefer(best[a], best[b])
		})
	} else {
		of = cluster.Components(g.Docs, edges)
	}
	groups := make([]uint32, g.Docs)
	for doc := range uint32(g.Docs) {
		first := g.First[doc]
		if groups[doc] = of[first]; int(first) < g.References {
			groups[doc] = first
		}
	}
	return groups
}

// twin decides the slow way.
func twin(g *roomtest.Family, star bool, prefer func(a, b uint32) bool) (f fates, sizes []int) {
	groups := groupsOf(g, star, prefer)
	members := map[uint32][]uint32{}
	for doc := range uint32(g.Docs) {
		members[groups[doc]] = append(members[groups[doc]], doc)
	}
	f = fates{make([]uint32, g.Docs), make([]uint32, g.Docs)}
	for group, docs := range members {
		kept := uint32(math.MaxUint32)
		for _, doc := range docs {
			switch {
			case star && g.First[doc] != group: // the centre's own class is kept
			case kept == math.MaxUint32:
				kept = doc
			case int(docs[0]) < g.References:
			case prefer(doc, kept):
				kept = doc
			}
		}
		for _, doc := range docs {
			f.kept[doc], f.label[doc] = kept, docs[0]
			if int(doc) < g.References {
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
		g := roomtest.AnyFamily(t)
		star := rapid.Bool().Draw(t, "star")
		keep, err := cluster.ParseKeep(rapid.SampledFrom([]string{"first", "last", "longest", "shortest"}).Draw(t, "keep"))
		if err != nil {
			t.Fatal(err)
		}
		got, clusters, largest := decided(t, g, someClusterOptions(t, g, keep, star))
		prefer := keep.Order(func(doc uint32) cluster.Meta { return cluster.Meta{Length: int64(g.Lengths[doc])} })
		want, sizes := twin(g, star, prefer)
		if !slices.Equal(got.kept, want.kept) || !slices.Equal(got.label, want.label) {
			t.Fatalf("%+v\nkept  %v\nwant  %v\nlabel %v\nwant  %v", g, got.kept, want.kept, got.label, want.label)
		}
		if clusters != int64(len(sizes)) || !slices.Equal(largest, sizes[:min(len(sizes), LargestMax)]) {
			t.Errorf("%d clusters %v, want %v", clusters, largest, sizes)
		}
		// Without references it is package cluster's own answer.
		if g.References == 0 && !star {
			var edges []cluster.Edge
			for p := range g.Similar {
				edges = append(edges, cluster.Edge{A: p.A, B: p.B})
			}
			for doc, first := range g.First {
				edges = append(edges, cluster.Edge{A: uint32(doc), B: first})
			}
			labels := cluster.Components(g.Docs, edges)
			if !slices.Equal(got.label, labels) || !slices.Equal(got.kept, cluster.Kept(labels, 0, prefer)) {
				t.Errorf("kept %v, labels %v; package cluster has others", got.kept, got.label)
			}
		}
	})
}
