package roomtest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
)

// Family is documents in classes, and edges between the first documents of classes.
type Family struct {
	Docs, References int
	First            []uint32 // of the document's class
	Similar          map[graph.Pair]float64
	Lengths          []uint32
}

// AnyFamily draws documents. Edges between references are left out, as the engine does.
func AnyFamily(t *rapid.T) *Family {
	n := rapid.IntRange(1, 40).Draw(t, "documents")
	g := &Family{Docs: n, References: rapid.IntRange(0, n/2).Draw(t, "references"), Similar: map[graph.Pair]float64{}}
	copies := rapid.IntRange(1, n).Draw(t, "classes")
	firsts := map[int]uint32{}
	var reps []uint32
	for doc := range uint32(n) {
		class := rapid.IntRange(0, copies-1).Draw(t, "class")
		if _, ok := firsts[class]; !ok {
			firsts[class] = doc
			reps = append(reps, doc)
		}
		g.First = append(g.First, firsts[class])
		g.Lengths = append(g.Lengths, rapid.Uint32Range(1, 4).Draw(t, "length")) // many ties
	}
	for range rapid.IntRange(0, 2*len(reps)).Draw(t, "edges") {
		a, b := rapid.SampledFrom(reps).Draw(t, "a"), rapid.SampledFrom(reps).Draw(t, "b")
		if a, b = min(a, b), max(a, b); a != b && int(b) >= g.References {
			g.Similar[graph.Pair{A: a, B: b}] = float64(1+(a*31+b)%99) / 100
		}
	}
	return g
}

// Table returns a table of the documents, each with a set of one feature.
func (g *Family) Table(t T) *doctable.Table {
	docs := make([]Doc, g.Docs)
	for doc := range docs {
		docs[doc].TextSize, docs[doc].Features, docs[doc].Length, docs[doc].Set = g.Lengths[doc], 1, 1, []uint64{7}
	}
	return Table(t, g.References, true, docs)
}

// Members returns the classes of two and more, as copies.Classes has them.
func (g *Family) Members(t T) *extsort.Sorted {
	var members []extsort.Entry
	sizes := map[uint32]int{}
	for _, first := range g.First {
		sizes[first]++
	}
	for doc, first := range g.First {
		if sizes[first] > 1 {
			members = append(members, extsort.Entry{Key: uint64(first), Value: uint64(doc)})
		}
	}
	return Sorted(t, members)
}

// Edges returns the similar pairs.
func (g *Family) Edges(t T) *extsort.Sorted {
	var edges []extsort.Entry
	for p, similarity := range g.Similar {
		edges = append(edges, extsort.Entry{Key: p.Key(), Value: math.Float64bits(similarity)})
	}
	return Sorted(t, edges)
}

// String shows the documents.
func (g *Family) String() string {
	return fmt.Sprintf("%d documents, %d references, classes %v, edges %v, lengths %v", g.Docs, g.References, g.First, g.Similar, g.Lengths)
}
