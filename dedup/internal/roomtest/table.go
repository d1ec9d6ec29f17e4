package roomtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

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
