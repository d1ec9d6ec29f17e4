// Package graph represents pairs of documents as sorted entries, which need not fit in memory:
// candidates, edges, and connected components.
//
// A pair is the Key of an entry, a<<32|b. As a candidate its Value counts votes. An edge
// is a pair that was found similar, with the bits of its similarity, a float64, as Value.
package graph

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/components"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
)

// Pair is two documents to compare, A < B except in edges of directed measures.
type Pair struct{ A, B uint32 }

// NotSampled marks a member of a bucket over the cap that has the bucket's key in its set, and not in its sample.
const NotSampled = 1 << 32

// Key returns a pair as the key of an entry.
func Key(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

func (p Pair) Key() uint64 { return Key(p.A, p.B) }

func PairOf(key uint64) Pair { return Pair{uint32(key >> 32), uint32(key)} }

// Docs returns the documents of pairs, of n in all.
func Docs(pairs *extsort.Sorted, n int) (bitset.Set[uint32], error) {
	docs := bitset.New[uint32](n)
	return docs, pairs.Visit(func(e extsort.Entry) error {
		p := PairOf(e.Key)
		docs.Add(p.A)
		docs.Add(p.B)
		return nil
	})
}

// Bits returns the number of bits of the numbers of n documents.
func Bits(n int) int {
	bits := 1
	for n>>bits > 0 {
		bits++
	}
	return bits
}

// PairBits returns the number of bits of the keys of pairs of n documents.
func PairBits(n int) int { return 32 + Bits(n) }

// Graph says how graphs of some documents are sorted. It is a value, safe to copy.
type Graph struct {
	Space *scratch.Space
	Docs  int // numbers of documents are below it
}

// Sorting returns the options of a sorter of pairs that holds 1/n of the memory.
func (g Graph) Sorting(name string, n int64) extsort.Options {
	return g.Space.Sorting(name, n, PairBits(g.Docs))
}

// ByDoc returns the options of a sorter by document that holds 1/n of the memory.
func (g Graph) ByDoc(name string, n int64) extsort.Options {
	return g.Space.Sorting(name, n, Bits(g.Docs))
}

// Components labels every document of a pair with the smallest document of its connected component:
// Key is the document, Value the label. The caller releases it.
func (g Graph) Components(ctx context.Context, pairs *extsort.Sorted) (*extsort.Sorted, error) {
	share := int64(4)
	if g.Space.SpilledBytes() > 0 { // then the table has left its half
		share = 2
	}
	return components.Components(ctx, pairs, g.Docs, g.Space.Sorting("components", share, 0))
}

// ByLabel returns pairs by the label of their component: Key is label<<32|b, Value the lower half
// of the old value above a. They are ordered by b, so that each b is read once: where a few
// documents are compared with very many, the few are the a's. The caller releases it.
func (g Graph) ByLabel(ctx context.Context, pairs, labels *extsort.Sorted) (*extsort.Sorted, error) {
	return g.Space.Sorted(ctx, g.Sorting("labelled", 8), func(to *extsort.Appender) error {
		by := extsort.NewLookup(labels)
		err := pairs.Visit(func(e extsort.Entry) error {
			p := PairOf(e.Key)
			label, _ := by.Find(uint64(p.A)) // every document of a pair has one
			return to.Add(label<<32|uint64(p.B), e.Value<<32|uint64(p.A))
		})
		return errors.Join(err, by.Err(), by.Close())
	})
}

// Merge returns the edges of both. The caller releases it.
func (g Graph) Merge(ctx context.Context, a, b *extsort.Sorted) (*extsort.Sorted, error) {
	return g.Space.Sorted(ctx, g.Sorting("edges", 8), func(to *extsort.Appender) error {
		add := func(e extsort.Entry) error { return to.Add(e.Key, e.Value) }
		return errors.Join(a.Visit(add), b.Visit(add))
	})
}

// Without returns the entries of a whose keys are not keys of b. The caller releases it.
func (g Graph) Without(ctx context.Context, a, b *extsort.Sorted) (*extsort.Sorted, error) {
	return g.Space.Sorted(ctx, g.Sorting("fresh", 8), func(to *extsort.Appender) error {
		known := extsort.NewLookup(b)
		err := a.Visit(func(e extsort.Entry) error {
			if _, ok := known.Find(e.Key); ok {
				return nil
			}
			return to.Add(e.Key, e.Value)
		})
		return errors.Join(err, known.Err(), known.Close())
	})
}

// Labels finds the labels of ascending documents among those of Components.
type Labels struct{ extsort.Lookup }

// NewLabels returns the labels. Its caller checks Err and then closes it.
func NewLabels(labels *extsort.Sorted) Labels { return Labels{extsort.NewLookup(labels)} }

// Of returns the label of a document: its own number if it is in no pair.
func (l Labels) Of(doc uint32) uint32 {
	if label, ok := l.Find(uint64(doc)); ok {
		return uint32(label)
	}
	return doc
}

// Edges says which edges two documents get after their sets were compared.
type Edges struct {
	engine.Edges
	Sides *sides.Policy
}

// Add adds the edges between two documents whose sets have the counts of m, with m.A < m.B, and
// reach the threshold in at least one direction. The Key of an edge by a directed measure is the
// document inside, then the other.
func (o *Edges) Add(to *extsort.Appender, m measure.Match) error {
	edges, n := o.Of(m, o.RemovesParts && o.Sides.Reference(uint32(m.A)))
	for _, e := range edges[:n] {
		if err := to.Add(Key(uint32(e.A), uint32(e.B)), math.Float64bits(e.Similarity)); err != nil {
			return err
		}
	}
	return nil
}
