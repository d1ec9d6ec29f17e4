package copies

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// The room alone: documents with equal digests, or equal sets, are a class of the first.
func TestDocumentsWithEqualDigestsAreAClassOfTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		docs := roomtest.Sets(rng, rapid.IntRange(1, 50).Draw(t, "documents"), 2, 4)
		for i := range docs {
			// Of equal sets some have repeats, by which their digests differ.
			digest := recipe.Digest(append(slices.Clone(docs[i].Set), docs[i].Set[:rng.IntN(2)]...))
			docs[i].Digest, docs[i].Check = digest[0], engine.Check(digest)
			if rng.IntN(8) == 0 {
				docs[i].Features = 0
			}
		}
		bySet := rapid.Bool().Draw(t, "by set")
		of, value := measure.Jaccard, 0.5
		if bySet && rapid.Bool().Draw(t, "by overlap") {
			of, value = measure.Overlap, 2
		}
		threshold, err := measure.NewThreshold(of, value)
		if err != nil {
			t.Fatal(err)
		}
		left := rapid.IntRange(0, len(docs)).Draw(t, "left")
		policy := rapid.SampledFrom([]sides.Policy{sides.Self(), sides.Between(left, nil)}).Draw(t, "sides")
		o := Options{
			Space: scratch.New(scratch.Options{Threads: 2}), Table: roomtest.Table(t, 0, true, docs), Sides: &policy, BySet: bySet, Threshold: threshold,
		}
		o.Table.Left = left
		got, err := Find(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = o.Space.Release(got.Members) }()

		type digest struct {
			sum   uint64
			check uint32
		}
		first, members := map[digest]int{}, map[int][]int{}
		var want []extsort.Entry
		copies := int64(0)
		for doc, d := range docs {
			key := digest{d.Digest, d.Check}
			if bySet {
				of := recipe.Digest(d.Set)
				key = digest{of[0], engine.Check(of)}
			}
			if n := uint64(len(d.Set)); d.Features == 0 || bySet && !threshold.Reached(n, n, n) {
				if got.Representatives.Has(uint32(doc)) {
					t.Errorf("document %d, which is like nothing, is to be compared", doc)
				}
				continue
			}
			rep, there := first[key]
			if !there {
				rep, first[key] = doc, doc
			}
			if got.Representatives.Has(uint32(doc)) == there {
				t.Errorf("document %d is to be compared: %v; it is a copy: %v", doc, !there, there)
			}
			members[rep] = append(members[rep], doc)
			if there && (!policy.Apart() || policy.Side(uint32(doc)) != policy.Side(uint32(rep))) {
				copies++
			}
		}
		for rep, all := range members {
			across := false
			for _, doc := range all {
				if len(all) > 1 {
					want = append(want, extsort.Entry{Key: uint64(rep), Value: uint64(doc)})
				}
				across = across || policy.Side(uint32(doc)) != policy.Side(uint32(rep))
			}
			if rep < left && got.Both.Has(uint32(rep)) != across {
				t.Errorf("the class of %d, %v, has members on both sides: %v", rep, all, !across)
			}
		}
		if entries := roomtest.Entries(t, got.Members); !slices.Equal(entries, roomtest.Entries(t, roomtest.Sorted(t, want))) || got.Copies != copies {
			t.Errorf("members %v, %d copies; want %v, %d", entries, got.Copies, want, copies)
		}
	})
}
