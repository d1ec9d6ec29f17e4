// Package roomtest helps the tests of the engine's packages: it takes entries made by hand, and
// returns entries to compare.
package roomtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// T is a test, of package testing or of package rapid.
type T interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func Sorted(t T, entries []extsort.Entry) *extsort.Sorted {
	t.Helper()
	sorter, err := extsort.New(extsort.Options{Threads: 1})
	if err != nil {
		t.Fatalf("%v", err)
	}
	to := sorter.Appender()
	for _, e := range entries {
		if err := to.Add(e.Key, e.Value); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := to.Flush(); err != nil {
		t.Fatalf("%v", err)
	}
	sorted, err := sorter.Sort(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return sorted
}

func Entries(t T, s *extsort.Sorted) (all []extsort.Entry) {
	t.Helper()
	err := s.Visit(func(e extsort.Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

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

// Doc is a document of a table made by hand.
type Doc struct {
	doctable.Document
	ID        string
	Keys      []uint64
	Hashes    []uint32 // of features
	Signature []uint32
	Set       []uint64
}

// Table returns a table in memory of documents; the first ones are references. All have
// as many keys, and as long signatures, as the first one. It has feature sets if sets says
// so.
func Table(t T, references int, sets bool, docs []Doc) *doctable.Table {
	t.Helper()
	o := doctable.Options{
		Sources: []corpus.Source{{Path: "references.jsonl"}, {Path: "inputs.jsonl"}}, References: 1,
		Space: scratch.New(scratch.Options{Threads: 1}), SegmentBytes: math.MaxInt64,
	}
	if sets {
		o.MostSetFeatures = math.MaxInt64
	}
	if len(docs) > 0 {
		o.Keys, o.Words = len(docs[0].Keys), len(docs[0].Signature)
	}
	b := doctable.NewBuilder(o)
	f := b.NewFiller()
	for file, of := range [][]Doc{docs[:references], docs[references:]} {
		block := f.Begin(file, 0, 0)
		for _, d := range of {
			c := f.Columns()
			c.Keys, c.Hashes = append(c.Keys, d.Keys...), append(c.Hashes, d.Hashes...)
			c.Signatures, c.Features = append(c.Signatures, d.Signature...), append(c.Features, d.Set...)
			f.Add(d.Document, []byte(d.ID), nil, nil)
		}
		f.End(&block)
		if err := f.Keep(&block); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := f.Finish(); err != nil {
		t.Fatalf("%v", err)
	}
	made, err := b.Table()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return made
}

// Recipe returns a recipe of a Jaccard threshold with bands.
func Recipe(t T, jaccard, recall float64) recipe.Recipe {
	t.Helper()
	threshold, err := measure.NewThreshold(measure.Jaccard, jaccard)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := recipe.New(recipe.Options{Threshold: threshold, Recall: recall})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// Sets draws n sets of up to most of vocabulary features. Every third one is the one before
// it with a few features less.
func Sets(rng *rand.Rand, n, most, vocabulary int) (docs []Doc) {
	for i := range n {
		var set []uint64
		if i%3 == 2 {
			set = slices.Clone(docs[i-1].Set)
			set = set[min(rng.IntN(3), len(set)-1):]
		} else {
			for range 1 + rng.IntN(most) {
				set = append(set, 1+uint64(rng.IntN(vocabulary)))
			}
			slices.Sort(set)
			set = slices.Compact(set)
		}
		docs = append(docs, Doc{Document: doctable.Document{Features: uint32(len(set)), Length: 1}, Set: set})
	}
	return docs
}

type Progress struct{}

func (Progress) Advance(int64, int64) {}
